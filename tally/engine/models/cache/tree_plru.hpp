// Tree pseudo-LRU: a bit per inner node of a tree over the ways selects the half with the next victim.
#pragma once

#include <cstdint>

#include "tally/engine/models/cache/tag.hpp"

namespace tally::models {

/// A set of `ways` tags, each in a fixed way, and one word of bits after them. A use turns the nodes above its way to
/// the other half; the victim is found by following them. If the number of ways is not a power of two, the halves of a
/// node differ by one. Empty ways are filled first, the lowest first.
struct TreePlru {
  /// Returns the number of words of one set.
  static constexpr std::uint32_t words(std::uint32_t ways) { return ways + 1; }

  /// Turns the nodes above `place` away from it.
  static void use(std::uint64_t* set, std::uint32_t ways, std::uint32_t place) {
    std::uint32_t low = 0, high = ways;
    for (std::uint32_t node = 1; high - low > 1;) {
      const std::uint32_t middle = low + (high - low) / 2;
      const bool right = place >= middle;
      const std::uint64_t bit = std::uint64_t{1} << node;
      set[ways] = right ? set[ways] & ~bit : set[ways] | bit;
      (right ? low : high) = middle;
      node = node * 2 + right;
    }
  }

  /// Returns the way that the nodes point to.
  static std::uint32_t victim(const std::uint64_t* set, std::uint32_t ways) {
    std::uint32_t low = 0, high = ways;
    for (std::uint32_t node = 1; high - low > 1;) {
      const std::uint32_t middle = low + (high - low) / 2;
      const bool right = (set[ways] >> node & 1) != 0;
      (right ? low : high) = middle;
      node = node * 2 + right;
    }
    return low;
  }

  /// Inserts a tag that the set does not contain, and uses it. Returns the tag that it displaced, 0 for none.
  static std::uint64_t insert(std::uint64_t* set, std::uint32_t ways, std::uint64_t tag) {
    std::uint32_t place = 0;
    while (place < ways && set[place] != 0) ++place;
    if (place == ways) place = victim(set, ways);
    const std::uint64_t displaced = set[place];
    set[place] = tag;
    use(set, ways, place);
    return displaced;
  }

  /// Empties the way.
  static void remove(std::uint64_t* set, std::uint32_t /*ways*/, std::uint32_t place) { set[place] = 0; }
};

}  // namespace tally::models
