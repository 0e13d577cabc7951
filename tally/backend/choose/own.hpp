// How a thread counts itself with the processor's PMU.
#pragma once

#include <string>
#include <vector>

#include "tally/base/result.hpp"
#include "tally/channel/channel.hpp"
#include "tally/event/event.hpp"
#include "tally/linux/perf_event.hpp"

namespace tally::backend {

/// An event as the kernel takes it for a thread of this program.
struct OwnEvent {
  linux::PerfEvent event;
  std::string source;  ///< who counts: the PMU's name, or "perf_event"
  std::string doubt;   ///< why the count is to be believed less; may be empty
  std::string absent;  ///< why there is none; empty where there is one
};

/// These events, to be counted for threads of this program by the machine's PMU. Errors: cannot_measure where one is
/// not to be asked for, with the reason, and where kinds of cores would have to take turns.
Result<std::vector<OwnEvent>> own_events(const std::vector<event::Event>& events);

/// Where the program runs under the engine: these events as the engine counts them; one that it does not count exactly
/// is absent. Errors: cannot_measure where all are, with the reason.
Result<std::vector<OwnEvent>> engine_events(const std::vector<event::Event>& events);

/// The count of such an event in what the engine answered.
std::int64_t engine_value(event::Id id, const channel::Totals& totals);

/// Why the kernel did not open a counter, in words.
std::string why_refused(int os_errno, const event::Event& event);

}  // namespace tally::backend
