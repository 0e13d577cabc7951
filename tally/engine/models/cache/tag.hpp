// The words by which tables identify lines.
#pragma once

#include <cstdint>

namespace tally::models {

/// Returns the word for a line: the complement of its first byte's address. So a table of zeroes is empty, and a table
/// that is mapped but never written uses no memory. Generated code checks with one exclusive or with an address whether
/// the line matches and whether the access ends in it: the result is then at least ~(line bytes − access bytes).
constexpr std::uint64_t tag_of(std::uint64_t address, unsigned line_bits) {
  return ~(address >> line_bits << line_bits);
}

/// Cleared in the tag of a prefetched line that was not used yet, so that its first use differs from others. Lines have
/// at least two bytes, so the bit is set in every other tag.
constexpr std::uint64_t used_bit = 1;

/// Returns the address of a tag's first byte.
constexpr std::uint64_t line_of(std::uint64_t tag) { return ~(tag | used_bit); }

/// An address that is in no line.
constexpr std::uint64_t no_line = ~std::uint64_t{0};

/// Returns the index of the tag among the first `ways` words of a set; `ways` if it is missing. Reads all of them
/// unless it is the first: a loop with a varying end costs more than the rest of it.
inline std::uint32_t place_of(const std::uint64_t* set, std::uint32_t ways, std::uint64_t tag) {
  if ((set[0] | used_bit) == tag) return 0;
  std::uint32_t found = ways;
  for (std::uint32_t place = 1; place < ways; ++place) found = (set[place] | used_bit) == tag ? place : found;
  return found;
}

}  // namespace tally::models
