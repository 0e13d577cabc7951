// Basic-block vectors of windows as SimPoint 3.2 reads them.
#pragma once

#include <cstddef>
#include <string>

#include "tally/output/result/windows.hpp"

namespace tally::report {

/// SimPoint 3.2 ends at a line of this many bytes or more (its Utilities.h: MAX_LINE_LENGTH, with the line's end).
inline constexpr std::size_t simpoint_line_bytes = 1'048'575;

/// The comment that begins a file: the thread that its windows are of. A file has room for one thread.
std::string simpoint_head(const result::Window& first);

/// Appends the line of a window: T, and :BLOCK:INSTRUCTIONS for each block. Returns the bytes before the line break.
std::size_t add_simpoint_line(const result::Window& window, std::string& to);

}  // namespace tally::report
