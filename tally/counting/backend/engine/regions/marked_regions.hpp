// Returns the results of regions: what the threads of a process counted in them, and how reliable that is.
#pragma once

#include <cstdint>
#include <vector>

#include "tally/counting/backend/engine/regions/marked_events.hpp"

namespace tally::backend::engine {

/// A thread of the process whose regions are read.
struct MarkedThread {
  std::uint32_t number;  ///< in the channel
  std::int32_t tid;
};
std::vector<RegionResult> regions_of(const Order& order, const Modelling& modelling, const Channel& shared,
                                     const std::vector<MarkedThread>& threads, const CollectedTotals& tally);

}  // namespace tally::backend::engine
