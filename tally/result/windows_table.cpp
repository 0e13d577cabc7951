#include "tally/result/windows_table.hpp"

#include <algorithm>
#include <utility>

namespace tally::result {

WindowsCollector::WindowsCollector(WindowsHead head) {
  windows_.head = std::move(head);
  for (const auto& place : windows_.head.places)
    if (place) counts_ = std::max(counts_, *place + 1);
}

void WindowsCollector::add(const Window& window) {
  const auto [found, is_new] = places_.try_emplace(window.series, windows_.series.size());
  if (is_new) {
    WindowSeries made;
    made.series = window.series;
    made.program = window.program;
    made.pid = window.pid;
    made.tid = window.tid;
    made.counts.resize(counts_);
    windows_.series.push_back(std::move(made));
  }
  WindowSeries& to = windows_.series[found->second];
  to.numbers.push_back(static_cast<std::int64_t>(window.number));
  to.times.push_back(window.time.count());
  to.lengths.push_back(window.length);
  to.addresses.push_back(static_cast<std::int64_t>(window.address));
  to.triggers.push_back(window.trigger ? static_cast<std::int64_t>(*window.trigger) : -1);
  to.lost.push_back(window.lost);
  to.partial.push_back(window.partial ? 1 : 0);
  for (std::size_t i = 0; i < counts_; ++i) to.counts[i].push_back(i < window.counts.size() ? window.counts[i] : 0);
}

}  // namespace tally::result
