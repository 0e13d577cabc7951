#include "tally/output/result/windows_table.hpp"

#include <algorithm>
#include <utility>

namespace tally::result {

WindowsCollector::WindowsCollector(WindowsHead head) {
  windows_.head = std::move(head);
  for (const auto& index : windows_.head.places)
    if (index) counts_ = std::max(counts_, *index + 1);
}

std::uint32_t WindowsCollector::word(std::string_view text) {
  if (windows_.words.empty()) windows_.words.emplace_back();
  if (text.empty()) return 0;
  if (const auto known = words_.find(text); known != words_.end()) return known->second;
  const auto number = static_cast<std::uint32_t>(windows_.words.size());
  windows_.words.emplace_back(text);
  words_.emplace(text, number);
  return number;
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
  to.cpus.push_back(window.cpu);
  to.addresses.push_back(static_cast<std::int64_t>(window.address));
  if (windows_.head.named) {
    to.functions.push_back(word(window.function));
    to.lines.push_back(word(window.line));
  }
  to.triggers.push_back(window.trigger ? static_cast<std::int64_t>(*window.trigger) : -1);
  to.lost.push_back(window.lost);
  to.partial.push_back(window.partial ? 1 : 0);
  for (std::size_t i = 0; i < counts_; ++i) to.counts[i].push_back(i < window.counts.size() ? window.counts[i] : 0);
}

void visit_by_time(const Windows& windows, const std::function<void(const Window&)>& visit) {
  struct RowIndex {
    std::int64_t time;
    std::size_t series, row;
  };
  std::vector<RowIndex> rows_by_time;
  for (std::size_t i = 0; i < windows.series.size(); ++i)
    for (std::size_t row = 0; row < windows.series[i].rows(); ++row)
      rows_by_time.push_back({windows.series[i].times[row], i, row});
  std::stable_sort(rows_by_time.begin(), rows_by_time.end(),
                   [](const RowIndex& a, const RowIndex& b) { return a.time < b.time; });
  std::vector<std::int64_t> counts;
  for (const RowIndex& row_index : rows_by_time) {
    const WindowSeries& series = windows.series[row_index.series];
    const std::size_t row = row_index.row;
    Window window{series.series,
                  series.program,
                  static_cast<std::uint64_t>(series.numbers[row]),
                  Nanoseconds(row_index.time),
                  series.lengths[row],
                  series.pid,
                  series.tid};
    window.cpu = static_cast<int>(series.cpus[row]);
    if (series.triggers[row] >= 0) window.trigger = static_cast<std::size_t>(series.triggers[row]);
    window.address = static_cast<std::uint64_t>(series.addresses[row]);
    if (!series.functions.empty()) {
      window.function = windows.words[series.functions[row]];
      window.line = windows.words[series.lines[row]];
    }
    window.lost = series.lost[row];
    window.partial = series.partial[row] != 0;
    counts.clear();
    for (const auto& column : series.counts) counts.push_back(column[row]);
    window.counts = counts;
    visit(window);
  }
}

}  // namespace tally::result
