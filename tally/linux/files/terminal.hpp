// How wide the terminal is that shows what is printed.
#pragma once

#include <cstddef>

namespace tally::linux {

/// A stream of this process.
enum class Stream { output = 1, error = 2 };

/// Columns of the terminal that the stream is; 0 where it is none, or does not say.
std::size_t terminal_columns(Stream stream);

}  // namespace tally::linux
