// Plans passes: which events are counted together, and how many executions are needed to count all.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "tally/hardware/event/event.hpp"

namespace tally::event {

/// The events counted in one execution, as indexes of the planned list, in order.
using Pass = std::vector<std::size_t>;

/// A plan to count a list of events without multiplexing.
struct Plan {
  std::vector<Pass> passes;     ///< at least one; every event is in one of them, except those of `too_large`
  std::vector<Pass> too_large;  ///< groups that do not fit on the counters: they are never split
  bool operator==(const Plan&) const = default;
};

/// A plan with everything in one pass, for backends that count any events together.
Plan one_pass(std::size_t events);

/// Whether a PMU can count these events (indexes of the list) together.
using Fits = std::function<bool(const Pass&)>;

/// Assigns events to few passes by first fit, in the given order. `needs_counter`: whether each event needs a counter
/// of the PMU. Software events do not; they are in the first pass or with their group. An event that does not fit alone
/// is treated the same: opening it reports the reason. Pure. Cost: one call of `fits` if all fit together; otherwise
/// one more for each event, for each group, and for each group and pass.
Plan plan_passes(const std::vector<Event>& events, const std::vector<bool>& needs_counter, const Fits& fits);

}  // namespace tally::event
