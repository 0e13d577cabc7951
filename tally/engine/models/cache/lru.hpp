// Least recently used: the set is a list, the most recent tag first.
#pragma once

#include <cstdint>

#include "tally/engine/models/cache/tag.hpp"

namespace tally::models {

/// A set of `ways` tags in the order of their last use; empty places, which are 0, stand at the end. The check of the
/// most recent line looks at the first word only, which is what generated code does.
struct Lru {
  /// Words of memory of one set.
  static constexpr std::uint32_t words(std::uint32_t ways) { return ways; }

  /// Makes the tag at `place` the most recent one.
  static void use(std::uint64_t* set, std::uint32_t /*ways*/, std::uint32_t place) {
    const std::uint64_t tag = set[place];
    for (; place > 0; --place) set[place] = set[place - 1];
    set[0] = tag;
  }

  /// Puts a tag that the set does not hold into it, as the most recent one; what it displaced, 0 for nothing.
  static std::uint64_t insert(std::uint64_t* set, std::uint32_t ways, std::uint64_t tag) {
    const std::uint64_t displaced = set[ways - 1];
    set[ways - 1] = tag;
    use(set, ways, ways - 1);
    return displaced;
  }

  /// What a use of the tag finds: whether it was there, its word as it stood, and what had to go where it was not.
  struct Used {
    bool hit;
    std::uint64_t before;
  };

  /// Makes the tag the most recent one, whether it was there or not, in one pass: each word moves on by one until the
  /// tag's own place is reached.
  static Used use_tag(std::uint64_t* set, std::uint32_t ways, std::uint64_t tag) {
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

  /// The same of a set without prefetched lines; whether it was there. All places are looked at and written, whatever
  /// is found: an end that is not the same every time costs more.
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

  /// Empties the place.
  static void remove(std::uint64_t* set, std::uint32_t ways, std::uint32_t place) {
    for (; place + 1 < ways; ++place) set[place] = set[place + 1];
    set[place] = 0;
  }
};

}  // namespace tally::models
