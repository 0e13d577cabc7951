// Returns the width of the terminal that shows the output.
#pragma once

#include <cstddef>

namespace tally::linux {

/// A standard stream of this process.
enum class Stream { output = 1, error = 2 };

/// Returns the columns of the stream's terminal; 0 if it is not a terminal or has no known width.
std::size_t terminal_columns(Stream stream);

}  // namespace tally::linux
