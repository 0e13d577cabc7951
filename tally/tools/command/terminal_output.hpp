// Checks and sizes for results that are written to a terminal.
#pragma once

#include <cstddef>

#include "tally/core/base/result.hpp"
#include "tally/linux/files/output_file.hpp"
#include "tally/output/kinds/format.hpp"

namespace tally::command {

/// Refuses to write a binary format to a terminal. Errors: bad_usage.
Result<void> check_binary_output(const output::Format& format, const linux::Output& output);

/// The columns of the terminal if `output` is a standard stream on one; else 0.
std::size_t terminal_columns(const linux::Output& output);

}  // namespace tally::command
