// How tables of lines say which line they hold.
#pragma once

#include <cstdint>

namespace tally::models {

/// The word that stands for a line: the complement of its first byte's address. So a table of zeroes is empty, and one
/// that is mapped but never written takes no memory; and generated code sees from one exclusive or with an address
/// whether the line is meant and whether the access ends in it: the result is at least ~(line bytes − access bytes).
constexpr std::uint64_t tag_of(std::uint64_t address, unsigned line_bits) {
  return ~(address >> line_bits << line_bits);
}

/// Cleared in the tag of a line that a prefetcher brought and that nothing has used yet, so that the first use differs
/// from all others. Lines have at least two bytes, so the bit is set in every other tag.
constexpr std::uint64_t used_bit = 1;

/// The address of a tag's first byte.
constexpr std::uint64_t line_of(std::uint64_t tag) { return ~(tag | used_bit); }

/// No line: an address that is in none.
constexpr std::uint64_t no_line = ~std::uint64_t{0};

/// Where the tag stands among the first `ways` words of a set; `ways` where it does not. Looks at all of them unless it
/// is the first: an end that is not the same every time costs more than the rest of the loop.
inline std::uint32_t place_of(const std::uint64_t* set, std::uint32_t ways, std::uint64_t tag) {
  if ((set[0] | used_bit) == tag) return 0;
  std::uint32_t found = ways;
  for (std::uint32_t place = 1; place < ways; ++place) found = (set[place] | used_bit) == tag ? place : found;
  return found;
}

}  // namespace tally::models
