// The branch target buffer, from which the front end knows a taken branch before it has decoded it.
#pragma once

#include <cstdint>

#include "tally/engine/models/cache/lru.hpp"

namespace tally::models {

/// Targets of taken branches, indexed by the branch's address: 1,024 sets of 4, LRU. A direct branch that is not in the
/// buffer costs the front end some cycles and is not a misprediction. The initial state is all zero.
class Btb {
 public:
  static constexpr unsigned sets = 1024;
  static constexpr unsigned ways = 4;

  /// Updates the buffer with a taken branch from `pc` to `target`. Returns whether the buffer contained it.
  bool predict(std::uint64_t pc, std::uint64_t target) {
    const unsigned set = pc % sets;
    const std::uint64_t tag = pc | valid;
    unsigned place = 0;
    while (place < ways && pcs_[set][place] != tag) ++place;
    const bool known = place < ways && targets_[set][place] == target;
    if (place == ways) --place;
    pcs_[set][place] = tag;
    targets_[set][place] = target;
    Lru::use(pcs_[set], ways, place);
    Lru::use(targets_[set], ways, place);
    return known;
  }

 private:
  static constexpr std::uint64_t valid = std::uint64_t{1} << 63;  ///< clear in user addresses

  std::uint64_t pcs_[sets][ways] = {};
  std::uint64_t targets_[sets][ways] = {};
};

}  // namespace tally::models
