// One region, and the memory that empties a level before it.
#pragma once

#include <cstdint>

#include "tally/tools/memory/analysis/permutation.hpp"
#include "tally/tools/memory/runner.hpp"

namespace tally::memory {

/// What of a region is timed.
enum class TimedPart { store, load, both };

/// A region of lines that are planted, and a mapping of its own through which everything goes that empties the level:
/// no place in it follows from where the region is.
struct Ground {
  linux::Area region;
  linux::Area scratch;
  Order order;          ///< of the region's lines, closed
  Order scratch_order;  ///< closed
};

/// Fresh memory for both, the region planted. Errors: as Runner::fresh().
Result<Ground> make_ground(Runner& runner, std::uint64_t region_bytes, std::uint64_t scratch_bytes);

/// Empties the level, then times the part of the region once.
Timed time_once(const Plan& plan, Ground& ground, TimedPart part);

}  // namespace tally::memory
