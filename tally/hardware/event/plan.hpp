// Planning of passes: which events are counted at the same time, and how many executions it takes to count them all.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "tally/hardware/event/event.hpp"

namespace tally::event {

/// Events that are counted in one execution: places in the list that was planned for, in order.
using Pass = std::vector<std::size_t>;

/// How a list of events is counted without that any two share a counter.
struct Plan {
  std::vector<Pass> passes;     ///< at least one; every event is in one of them, but for those of `too_large`
  std::vector<Pass> too_large;  ///< groups that do not fit by themselves: they are never split
  bool operator==(const Plan&) const = default;
};

/// Everything in one pass: the plan of who counts whatever is asked at the same time.
Plan one_pass(std::size_t events);

/// Whether a PMU counts these events, places in the list, at the same time.
using Fits = std::function<bool(const Pass&)>;

/// Puts events into as few passes as first fit finds, in the order asked. `needs_counter` says of each event whether it
/// takes one of the PMU's counters: software events do not; they come into the first pass, or with their group. What
/// does not fit by itself is left where it stands as if it took none: opening it will tell why. Pure. Cost: a call of
/// `fits` where all fit together; else one more for each event and for each group, and one for each of them and pass.
Plan plan_passes(const std::vector<Event>& events, const std::vector<bool>& needs_counter, const Fits& fits);

}  // namespace tally::event
