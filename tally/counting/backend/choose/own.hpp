// How a thread counts itself: with the processor's PMU, or by the engine that it runs under.
#pragma once

#include <string>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/core/count/source.hpp"
#include "tally/engine/channel/asking.hpp"
#include "tally/hardware/event/event.hpp"
#include "tally/linux/perf/perf_event.hpp"

namespace tally::backend {

/// An event as the kernel takes it for a thread of this program.
struct OwnEvent {
  linux::PerfEvent event;
  CountSource source;      ///< what counts it: a PMU, the kernel or the engine
  std::string doubt;       ///< why the count is to be believed less; may be empty
  std::string absent;      ///< why there is none; empty where there is one
  std::string model = {};  ///< whose word it is; empty where it was counted
};

/// These events, to be counted for threads of this program by the machine's PMU. Errors: cannot_measure where one is
/// not to be asked for, with the reason, and where kinds of cores would have to take turns.
Result<std::vector<OwnEvent>> own_events(const std::vector<event::Event>& events);

/// Where the program runs under the engine, which simulates `models`: these events as they are counted there; one that
/// is neither exact nor simulated is absent. Errors: cannot_measure where all are, with the reason.
Result<std::vector<OwnEvent>> engine_events(const std::vector<event::Event>& events,
                                            const channel::AskedModels& models);

/// Whether the count of such an event is a model's.
bool is_modelled(event::Id id);

/// The count of such an event in what the engine answered; one that is not counted there is absent by engine_events().
std::int64_t engine_value(event::Id id, const channel::AskedValues& values);

/// Why the kernel did not open a counter, in words.
std::string why_refused(int os_errno, const event::Event& event);

}  // namespace tally::backend
