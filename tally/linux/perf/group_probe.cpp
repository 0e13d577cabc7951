#include "tally/linux/perf/group_probe.hpp"

namespace tally::linux {

bool counts_together(const std::vector<PerfEvent>& events, bool here) {
  std::vector<PerfCounter> counters;
  for (const PerfEvent& event : events) {
    // Enabled at the end: otherwise a leader that ran before its group was complete would look as if the group ran.
    const PerfTarget target{0, -1, false, PerfStart::when_enabled};
    counters.push_back(open_counter(event, target, counters.empty() ? nullptr : &counters.front()));
    if (!counters.back()) return false;
  }
  if (counters.empty() || !here) return true;
  if (!counters.front().enable()) return false;
  const auto value = counters.back().read();
  return value && value->running.count() > 0;
}

}  // namespace tally::linux
