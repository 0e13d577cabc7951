// Compact columns of integers, for pages of windows; html/windows_data.js decodes them.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace tally::output {

/// Appends a column of at least one number in the shortest of three encodings, which its first byte names:
///   0  the first value, and the constant step between values
///   1  for each value its difference from the value before it; the value before the first is 0
///   2  each value
/// Differences wrap at 64 bits. A number is in zigzag encoding (the sign is the lowest bit), seven bits per byte, the
/// lowest first; all bytes but the last have the highest bit set.
void put_column(std::span<const std::int64_t> column, std::string& to);

}  // namespace tally::output
