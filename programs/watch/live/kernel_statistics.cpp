#include "programs/watch/live/kernel_statistics.hpp"
#include "tally/core/base/parse_text.hpp"

namespace tally::watch {
namespace {

// "cpu12" → 12; no number for "cpu" and other words.
std::optional<int> processor_of(std::string_view word) {
  if (!word.starts_with("cpu")) return std::nullopt;
  const auto number = parse_digits<int>(word.substr(3));
  return number && *number >= 0 ? number : std::nullopt;
}

template <class Take>
void each_line(std::string_view text, Take take) {
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = text.find('\n', at);
    if (end == std::string_view::npos) end = text.size();
    take(text.substr(at, end - at));
    at = end + 1;
  }
}

ProcessorTimes times_of(Words& words) {
  // user nice system idle iowait irq softirq steal; old kernels have fewer.
  std::uint64_t all[8] = {};
  for (std::uint64_t& one : all) one = words.number().value_or(0);
  return {all[0] + all[1], all[2] + all[5] + all[6], all[3], all[4], all[7]};
}

}  // namespace

KernelTimes kernel_times(std::string_view text) {
  KernelTimes times;
  each_line(text, [&](std::string_view line) {
    // The line of interrupts is long and not needed.
    if (line.starts_with("intr") || line.starts_with("softirq")) return;
    Words words(line);
    const std::string_view first = words.next();
    if (const auto processor = processor_of(first)) {
      times.processors[*processor] = times_of(words);
    } else if (first == "ctxt") {
      times.switches = words.number();
    } else if (first == "procs_running") {
      times.running = words.number();
    }
  });
  return times;
}

std::map<int, std::uint64_t> waiting_times(std::string_view text) {
  std::map<int, std::uint64_t> all;
  each_line(text, [&](std::string_view line) {
    Words words(line);
    const auto processor = processor_of(words.next());
    if (!processor) return;
    for (int skipped = 0; skipped < 7; ++skipped) words.next();
    if (const auto waited = words.number()) all[*processor] = *waited;
  });
  return all;
}

std::optional<std::uint64_t> pressure_microseconds(std::string_view text) {
  const std::size_t line = text.find("some ");
  if (line == std::string_view::npos) return std::nullopt;
  const std::size_t total = text.find("total=", line);
  if (total == std::string_view::npos) return std::nullopt;
  return leading_number(text.substr(total + 6));
}

KernelStatistics read_kernel_statistics(FolderFiles& proc) {
  KernelStatistics statistics;
  statistics.times = kernel_times(proc.text("stat"));
  statistics.waited_ns = waiting_times(proc.text("schedstat"));
  const std::string_view vm = proc.text("vmstat");
  statistics.faults = number_after(vm, "pgfault");
  statistics.major_faults = number_after(vm, "pgmajfault");
  const std::string_view memory = proc.text("meminfo");
  const auto total = number_after(memory, "MemTotal:");
  const auto available = number_after(memory, "MemAvailable:");
  if (total && available && *available <= *total) statistics.memory_bytes = (*total - *available) * 1024;
  statistics.cpu_pressure_us = pressure_microseconds(proc.text("pressure/cpu"));
  statistics.memory_pressure_us = pressure_microseconds(proc.text("pressure/memory"));
  statistics.io_pressure_us = pressure_microseconds(proc.text("pressure/io"));
  return statistics;
}

}  // namespace tally::watch
