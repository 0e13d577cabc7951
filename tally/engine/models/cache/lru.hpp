// Least recently used: the set is a list, the most recent tag first.
#pragma once

#include <cstdint>

#include "tally/engine/models/cache/tag.hpp"

namespace tally::models {

/// A set of `ways` tags in the order of their last use; empty ways are 0 and at the end. The check for the most recent
/// line, which generated code makes too, reads the first word only.
struct Lru {
  /// Returns the number of words of one set.
  static constexpr std::uint32_t words(std::uint32_t ways) { return ways; }

  /// Makes the tag at `place` the most recent one.
  static void use(std::uint64_t* set, std::uint32_t /*ways*/, std::uint32_t place) {
    const std::uint64_t tag = set[place];
    for (; place > 0; --place) set[place] = set[place - 1];
    set[0] = tag;
  }

  /// Inserts a tag that the set does not contain as the most recent one. Returns the tag that it displaced, 0 for none.
  static std::uint64_t insert(std::uint64_t* set, std::uint32_t ways, std::uint64_t tag) {
    const std::uint64_t displaced = set[ways - 1];
    set[ways - 1] = tag;
    use(set, ways, ways - 1);
    return displaced;
  }

  /// The result of a use: whether the tag was present, and its previous word or the displaced one.
  struct UseResult {
    bool hit;
    std::uint64_t before;
  };

  /// Makes the tag the most recent one, whether it was present or not, in one pass: each word moves by one until the
  /// tag's previous way.
  static UseResult use_tag(std::uint64_t* set, std::uint32_t ways, std::uint64_t tag) {
    std::uint64_t before = set[0];
    set[0] = tag;
    if ((before | used_bit) == tag) return {true, before};
    for (std::uint32_t place = 1; place < ways; ++place) {
      const std::uint64_t here = set[place];
      set[place] = before;
      if ((here | used_bit) == tag) return {true, here};
      before = here;
    }
    return {false, before};
  }

  /// The same for a set without prefetched lines; returns whether the tag was present. Reads and writes all ways in any
  /// case, because a loop with a varying end costs more.
  static bool use_whole(std::uint64_t* set, std::uint32_t ways, std::uint64_t tag) {
    std::uint64_t before = tag;
    bool found = false;
#pragma GCC unroll 16
    for (std::uint32_t place = 0; place < ways; ++place) {
      const std::uint64_t here = set[place];
      set[place] = found ? here : before;
      before = here;
      found |= here == tag;
    }
    return found;
  }

  /// Empties the way.
  static void remove(std::uint64_t* set, std::uint32_t ways, std::uint32_t place) {
    for (; place + 1 < ways; ++place) set[place] = set[place + 1];
    set[place] = 0;
  }
};

}  // namespace tally::models
