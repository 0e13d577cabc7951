// The events that are counted at marks: regions, windows and counters that programs read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tally/counting/backend/engine/count/collect.hpp"
#include "tally/counting/backend/order.hpp"

namespace tally::backend::engine {

/// Returns the engine's settings: the number of marks, and the events to count at them. `modelling`: the available
/// models.
channel::Marks marks_of(const Order& order, const Modelling& modelling);

/// Sets the weight of each of the engine's numbers in an event, which is a sum of them: channel::mark_values weights.
void weigh(event::Id id, std::int8_t* weight);

/// Returns one sentence on which counters rdpmc reads, and which are missing.
std::string readable_counters(const Order& order, const Modelling& modelling);

/// An event of the order with its index among those that marks count; without one, the reason.
struct MarkedEvent {
  const event::Event* event;
  std::optional<std::uint32_t> place;
  std::string reason;
  bool is_cycles = false;  ///< it has no index, but windows can compute it
};
std::vector<MarkedEvent> marked_events(const Order& order, const Modelling& modelling);

/// Returns the index of instructions among events with an index; the next free one if they are not counted.
std::uint32_t place_of_instructions(const std::vector<MarkedEvent>& events);

}  // namespace tally::backend::engine
