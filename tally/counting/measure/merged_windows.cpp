#include "tally/counting/measure/merged_windows.hpp"

#include <algorithm>

namespace tally::measure {

void MergedWindows::add(const result::Window& part) {
  Process& process = processes_[{part.pid, std::string(part.program)}];
  process.width = part.counts.size();
  process.parts.push_back({part.time.count(), part.length, part.lost, part.address, process.counts.size(),
                           static_cast<std::int32_t>(part.tid), part.cpu, part.partial});
  process.counts.insert(process.counts.end(), part.counts.begin(), part.counts.end());
}

void MergedWindows::join(const std::string& program, std::int64_t pid, Process& process, const Emit& emit) {
  // Stable, because parts of one thread are in order and may have the same time.
  std::stable_sort(process.parts.begin(), process.parts.end(),
                   [](const Part& a, const Part& b) { return a.time_ns < b.time_ns; });
  std::vector<std::int64_t> counts(process.width);
  result::Window window;
  window.series = ++series_;
  window.program = program;
  window.pid = pid;
  const auto begin = [&] {
    ++window.number;
    window.length = window.lost = 0;
    window.partial = false;
    std::fill(counts.begin(), counts.end(), 0);
  };
  begin();
  bool any = false;
  for (const Part& part : process.parts) {
    window.time = Nanoseconds(part.time_ns);
    window.tid = part.thread;
    window.cpu = part.cpu;
    window.address = part.address;
    window.length += part.length;
    window.lost += part.lost;
    window.partial = window.partial || part.partial;
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += process.counts[part.counts + i];
    window.counts = counts;
    any = window.length < every_;
    if (any) continue;
    window.trigger = 0;
    emit(window);
    begin();
  }
  if (!any) return;
  window.trigger.reset();
  window.address = 0;
  emit(window);
}

void MergedWindows::finish(const Emit& emit) {
  for (auto& [of, process] : processes_) join(of.second, of.first, process, emit);
  processes_.clear();
}

}  // namespace tally::measure
