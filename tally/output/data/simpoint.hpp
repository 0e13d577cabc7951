// Basic-block vectors of windows in the format of SimPoint 3.2.
#pragma once

#include <cstddef>
#include <string>

#include "tally/output/result/windows_result.hpp"

namespace tally::output {

/// SimPoint 3.2 fails on a line of this many bytes or more (its Utilities.h: MAX_LINE_LENGTH, including the line end).
inline constexpr std::size_t simpoint_line_bytes = 1'048'575;

/// The comment at the beginning of a file, with the thread of its windows. A file contains one thread.
std::string simpoint_head(const result::Window& first);

/// Appends the line of a window: T, and :BLOCK:INSTRUCTIONS for each block. Returns its bytes without the line break.
std::size_t add_simpoint_line(const result::Window& window, std::string& to);

}  // namespace tally::output
