// Events that a thread counts for itself: with the processor's PMU, or with the engine that it runs under.
#pragma once

#include <string>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/core/count/source.hpp"
#include "tally/engine/channel/count_request.hpp"
#include "tally/hardware/event/event.hpp"
#include "tally/linux/perf/perf_event.hpp"

namespace tally::backend {

/// An event with its kernel encoding for a thread of this program.
struct OwnEvent {
  linux::PerfEvent event;
  CountSource source;                              ///< what counts it: a PMU, the kernel or the engine
  std::string doubt;                               ///< why the count is less reliable; may be empty
  std::string absent;                              ///< why there is no count; empty if there is one
  std::string model = {};                          ///< the model that the count comes from; empty if it was counted
  bool has_operations = false, has_bytes = false;  ///< amounts that some instructions do not reveal to the engine
};

/// Encodes these events for the machine's PMU, to count threads of this program. Errors: cannot_measure, with the
/// reason, if an event cannot be encoded, or if several kinds of cores would each have to count it.
Result<std::vector<OwnEvent>> own_events(const std::vector<event::Event>& events);

/// Returns these events as the engine counts them if the program runs under it with `models`. An event that is neither
/// exact nor modelled is absent. Errors: cannot_measure, with the reason, if all are absent.
Result<std::vector<OwnEvent>> engine_events(const std::vector<event::Event>& events,
                                            const channel::AskedModels& models);

/// Whether the count of this event comes from a model.
bool is_modelled(event::Id id);

/// Returns the count of an event in the engine's answer. engine_events() reports events that the engine does not count.
std::int64_t engine_value(event::Id id, const channel::AskedValues& values);

/// Returns a bit for each of these events that contains amounts of this kind.
std::uint64_t unknown_events(const std::vector<OwnEvent>& own, bool operations, bool bytes);

/// Returns in words why the kernel did not open a counter.
std::string why_refused(int os_errno, const event::Event& event);

}  // namespace tally::backend
