#include "tally/hardware/event/plan.hpp"

#include <algorithm>
#include <numeric>

namespace tally::event {
namespace {

// Splits the events into units that must be counted together: a group, or a single event.
std::vector<Pass> units_of(const std::vector<Event>& events) {
  std::vector<Pass> units;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const auto same_group = [&](const Pass& unit) {
      return events[i].group != 0 && events[unit.front()].group == events[i].group;
    };
    auto unit = std::find_if(units.begin(), units.end(), same_group);
    if (unit == units.end()) unit = units.insert(units.end(), Pass{});
    unit->push_back(i);
  }
  return units;
}

}  // namespace

Plan one_pass(std::size_t events) {
  Pass all(events);
  std::iota(all.begin(), all.end(), 0);
  return {{std::move(all)}, {}};
}

Plan plan_passes(const std::vector<Event>& events, const std::vector<bool>& needs_counter, const Fits& fits) {
  std::vector<bool> needs = needs_counter;
  const auto counted = [&](Pass pass) {
    std::erase_if(pass, [&](std::size_t index) { return !needs[index]; });
    return pass;
  };
  Plan whole = one_pass(events.size());
  if (const Pass all = counted(whole.passes.front()); all.empty() || fits(all)) return whole;
  for (std::size_t index = 0; index < events.size(); ++index) needs[index] = needs[index] && fits({index});

  Plan plan{{Pass{}}, {}};
  for (const Pass& unit : units_of(events)) {
    const Pass own = counted(unit);
    if (own.size() > 1 && !fits(own)) {
      plan.too_large.push_back(unit);
      continue;
    }
    const auto has_room = [&](const Pass& pass) {
      Pass together = counted(pass);
      if (own.empty() || together.empty()) return true;
      together.insert(together.end(), own.begin(), own.end());
      return fits(together);
    };
    auto pass = std::find_if(plan.passes.begin(), plan.passes.end(), has_room);
    if (pass == plan.passes.end()) pass = plan.passes.insert(pass, Pass{});
    pass->insert(pass->end(), unit.begin(), unit.end());
  }
  return plan;
}

}  // namespace tally::event
