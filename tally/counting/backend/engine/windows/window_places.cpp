#include "tally/counting/backend/engine/windows/window_places.hpp"

#include <algorithm>

#include "tally/counting/backend/engine/profile/located_values.hpp"
#include "tally/counting/backend/engine/regions/marks.hpp"

namespace tally::backend::engine {
namespace {

constexpr std::size_t statistics = sizeof(channel::ModelValues) / sizeof(std::uint64_t);

/// The rows that cycles need beside those of the events. Nothing where there is no room for them.
std::optional<CyclePlaces> cycle_places(const event::Event& cycles, const Modelling& modelling, std::size_t& count) {
  CyclePlaces made;
  for (std::size_t figure = 0; figure < statistics; ++figure)
    if (weight_of(cycles.id, figure, modelling) != 0)
      made.statistics.emplace_back(figure, count + made.statistics.size());
  if (count + made.statistics.size() >= channel::mark_event_limit) return std::nullopt;
  count += made.statistics.size();
  made.cycles = count;
  return made;
}

}  // namespace

WindowPlaces window_places(const Job& job, const Modelling& modelling) {
  WindowPlaces made;
  const auto marked = marked_events(job, modelling);
  for (const MarkedEvent& one : marked) {
    made.events.push_back(one.place ? std::optional<std::size_t>(*one.place) : std::nullopt);
    if (one.place) made.count = *one.place + 1;
  }
  for (const WindowTrigger& trigger : job.windows->triggers) {
    const auto asked = std::find_if(job.events().begin(), job.events().end(), [&](const event::Event& event) {
      return event.id == trigger.event.id && event.mode == trigger.event.mode;
    });
    const auto place = static_cast<std::size_t>(asked - job.events().begin());
    made.triggers.push_back(place < made.events.size() && made.events[place] ? *made.events[place] : made.count++);
  }
  for (std::size_t i = 0; i < marked.size(); ++i) {
    if (!marked[i].is_cycles) continue;
    if (!made.cycles) made.cycles = cycle_places(*marked[i].event, modelling, made.count);
    if (made.cycles) made.events[i] = made.cycles->cycles;
  }
  return made;
}

}  // namespace tally::backend::engine
