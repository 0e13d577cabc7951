// The kernel's own figures as counts: the same for every backend that runs the program.
#pragma once

#include "tally/count/count.hpp"
#include "tally/event/event.hpp"
#include "tally/linux/usage.hpp"

namespace tally::backend {

/// The count of a software event from what wait4(2) said; duration_time is `duration`, measured by the monotonic clock.
/// A peak of memory that hides below what the process had before its program was executed is partial.
/// A hardware event is absent: this is not where it comes from.
Count software_count(const event::Event& event, const linux::Usage& usage, Nanoseconds duration);

/// True where every event is a software event: no counter of the processor is needed.
bool all_software(const std::vector<event::Event>& events);

}  // namespace tally::backend
