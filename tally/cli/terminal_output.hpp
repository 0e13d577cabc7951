// What differs where a result goes to a terminal.
#pragma once

#include <cstddef>

#include "tally/core/base/result.hpp"
#include "tally/linux/files/output.hpp"
#include "tally/output/formats/format.hpp"

namespace tally::cli {

/// Errors: bad_usage where a binary format would be written to a terminal.
Result<void> check_binary_output(const report::Format& format, const linux::Output& output);

/// Columns of the standard stream that `output` is; 0 where that is no terminal.
std::size_t terminal_columns(const linux::Output& output);

}  // namespace tally::cli
