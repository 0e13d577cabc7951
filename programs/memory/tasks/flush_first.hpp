// A region to time, and the memory that empties a level before each timing.
#pragma once

#include <cstdint>

#include "programs/memory/analysis/permutation.hpp"
#include "programs/memory/runner.hpp"

namespace tally::memory {

/// Which accesses to the region are timed.
enum class TimedPart { store, load, both };

/// A planted region, and a separate mapping whose accesses empty the level; its addresses do not depend on the
/// region's.
struct Ground {
  linux::Area region;
  linux::Area scratch;
  Order order;          ///< of the region's lines, closed
  Order scratch_order;  ///< closed
};

/// Maps both and plants the region. Errors: those of Runner::fresh().
Result<Ground> make_ground(Runner& runner, std::uint64_t region_bytes, std::uint64_t scratch_bytes);

/// Empties the level, then times one pass over the region.
Timed time_once(const Plan& plan, Ground& ground, TimedPart part);

}  // namespace tally::memory
