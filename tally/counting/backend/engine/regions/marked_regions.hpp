// Results of regions: what the threads of a process counted at the marks, with how reliable it is.
#pragma once

#include <cstdint>
#include <vector>

#include "tally/counting/backend/engine/regions/marks.hpp"

namespace tally::backend::engine {

/// The regions that a process's threads counted: `threads` are its numbers in the channel with what of it is not exact.
struct MarkedThread {
  std::uint32_t number;  ///< in the channel
  std::int32_t tid;
};
std::vector<RegionResult> regions_of(const Job& job, const Modelling& modelling, const Channel& shared,
                                     const std::vector<MarkedThread>& threads, const Tally& tally);

}  // namespace tally::backend::engine
