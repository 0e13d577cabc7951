#include "tally/counting/backend/engine/windows/window_places.hpp"

#include <algorithm>

#include "tally/counting/backend/engine/profile/value_selection.hpp"
#include "tally/counting/backend/engine/regions/marked_events.hpp"

namespace tally::backend::engine {
namespace {

constexpr std::size_t statistics = sizeof(channel::ModelValues) / sizeof(std::uint64_t);

/// Adds the rows that cycles need; nothing if there is no room for them.
std::optional<CyclePlaces> cycle_places(const event::Event& cycles, const Modelling& modelling, std::size_t& count) {
  CyclePlaces result;
  for (std::size_t figure = 0; figure < statistics; ++figure)
    if (weight_of(cycles.id, figure, modelling) != 0)
      result.statistics.emplace_back(figure, count + result.statistics.size());
  if (count + result.statistics.size() >= channel::weight_limit) return std::nullopt;
  count += result.statistics.size();
  result.cycles = count;
  return result;
}

}  // namespace

WindowPlaces window_places(const Order& order, const Modelling& modelling) {
  WindowPlaces result;
  const auto marked = marked_events(order, modelling);
  for (const MarkedEvent& marked_event : marked) {
    result.events.push_back(marked_event.place ? std::optional<std::size_t>(*marked_event.place) : std::nullopt);
    if (marked_event.place) result.count = *marked_event.place + 1;
  }
  for (const WindowTrigger& trigger : order.windows()->triggers) {
    const auto asked = std::find_if(order.events.begin(), order.events.end(), [&](const event::Event& event) {
      return event.id == trigger.event.id && event.mode == trigger.event.mode;
    });
    const auto index = static_cast<std::size_t>(asked - order.events.begin());
    result.triggers.push_back(index < result.events.size() && result.events[index] ? *result.events[index]
                                                                                   : result.count++);
  }
  // Such instructions make the counts of their window partial.
  for (std::size_t i = 0; i < marked.size(); ++i) {
    if (!result.events[i] || !amounts_of(marked[i].event->id).any()) continue;
    if (!result.unknown && result.count < channel::weight_limit) result.unknown = result.count++;
    if (!result.unknown) result.events[i].reset();
  }
  for (std::size_t i = 0; i < marked.size(); ++i) {
    if (!marked[i].is_cycles) continue;
    if (!result.cycles) result.cycles = cycle_places(*marked[i].event, modelling, result.count);
    if (result.cycles) result.events[i] = result.cycles->cycles;
  }
  return result;
}

}  // namespace tally::backend::engine
