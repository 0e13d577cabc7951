// Writes what valgrind's tools write: a file for each process, dump and thread, and messages.
#pragma once

#include <optional>

#include "programs/callgrind/valgrind_options.hpp"
#include "tally/core/base/result.hpp"
#include "tally/counting/backend/simulation.hpp"
#include "tally/output/result/profile_result.hpp"

namespace tally::callgrind {

/// Checks the names of the files. Errors: bad_usage.
Result<void> check_file_names(const ValgrindOptions& options);

/// Writes the files and the messages of all processes that the options include. Errors: cannot_write; the remaining
/// files are written anyway.
Result<void> write_valgrind_files(const result::Profile& profile, const ValgrindOptions& options,
                                  const std::optional<backend::Simulation>& simulation);

}  // namespace tally::callgrind
