// Names of the file that code was mapped from, and of no other one that has its path by now.
#pragma once

#include <memory>

#include "tally/profile/code_names.hpp"
#include "tally/result/code.hpp"

namespace tally::profile {

/// Reads the file that is kept, or the one at the path where that has the same identity or the same build id. Errors:
/// bad_usage where there is neither; the message is the reason, as it is known.
Result<std::unique_ptr<CodeNames>> names_of_mapped(const result::CodeFile& file);

/// Whether the file at its path is the one that was mapped, as far as its identity tells.
bool is_at_its_path(const result::CodeFile& file);

}  // namespace tally::profile
