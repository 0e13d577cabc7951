#include "programs/lab/timeline.hpp"

namespace tally::lab {

void Timeline::add(const Computer& machine) {
  Point now;
  now.instruction = machine.instructions();
  for (const CounterState& one : machine.counters()) {
    if (events_.size() <= now.values.size()) events_.emplace_back();
    if (one.runs) events_[now.values.size()] = one.event;
    now.values.push_back(one.value);
  }
  if (!points_.empty() && points_.back().instruction == now.instruction && points_.back().values == now.values) return;
  is_cut_ = points_.size() >= most;
  if (!is_cut_) points_.push_back(std::move(now));
}

}  // namespace tally::lab
