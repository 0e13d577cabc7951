// Delays of lines that miss the first level at once: a processor requests them ahead of the accesses before them, and
// those of one set push each other out.
#pragma once

#include <cstdint>

#include "tally/engine/models/cache/cache_level.hpp"

namespace tally::models {

/// Cycles by which an access takes longer, at most, if all accesses miss in one set of the first level. 0: not
/// modelled.
struct CrowdTimes {
  std::uint16_t load = 0, store = 0;
  bool operator==(const CrowdTimes&) const = default;
};

/// Follows the lines that miss the first level, and finds those of sets with more lines under way than ways. Loads wait
/// for each other then, and a store for its line again, which later requests have replaced. Owns no memory; the initial
/// state is all zero.
class CrowdedSets {
 public:
  /// Lines under way. Natively (Zen 5, 2026-11-30), loops with one store a trip are slow if 10 sets share all lines,
  /// and not if 12 do: 104 stores wait in its queue. Those that load, too, have more lines under way.
  static constexpr unsigned window = 128;
  static constexpr unsigned most_sets = 256;

  struct Crowd {
    unsigned lines;  ///< different lines of the set that are under way; 0 if they fill at most half of it
    bool is_far;     ///< none of the last lines is next to this one, so that no prefetcher has requested it
  };
  /// Processes a miss of a level of this shape.
  Crowd pass(std::uint64_t address, const CacheShape& shape);
  /// Returns the cycles by which an access takes longer: a load, a store or both. They are rounded so that the sum over
  /// all accesses is right. A load that nothing hides takes half a cycle more if half of the set is filled.
  unsigned longer(Crowd crowd, unsigned ways, bool loads, bool stores, bool is_hidden, const CrowdTimes& times);

 private:
  std::uint64_t lines_[window] = {};        // 1 + the line; 0: none yet
  std::uint8_t under_way_[most_sets] = {};  // of each set
  unsigned next_ = 0, parts_ = 0;
};

}  // namespace tally::models
