#include "tally/counting/backend/software.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tally/core/base/text.hpp"
#include "tally/counting/backend/lost_counters.hpp"
#include "tally/linux/system_call.hpp"

namespace tally::backend {
namespace {

using event::Id;

Count peak_memory(const linux::Usage& usage) {
  if (usage.peak_rss_bytes > usage.peak_floor_bytes) return counted(usage.peak_rss_bytes, Source::wait4);
  return partial(usage.peak_rss_bytes, Source::wait4,
                 fmt::format("an upper bound: tally's own process had {} before it executed the program",
                             bytes_text(usage.peak_floor_bytes)));
}

/// User time or system time. Most kernels divide the time of a process by what it did at the ticks of the clock, 100 to
/// 1,000 in a second: a short process may have been in one of both at every tick.
Count part_of_time(std::chrono::nanoseconds part, std::chrono::nanoseconds other) {
  Count count = counted(part.count(), Source::wait4);
  constexpr auto ten_ticks = std::chrono::milliseconds(100);
  if ((part.count() == 0) != (other.count() == 0) && part + other < ten_ticks)
    count.reason = "too short for the kernel's clock ticks: only user_time + system_time is precise";
  return count;
}

Count time_stamp_ticks(const RunStatistics& statistics) {
  if (!statistics.ticks) return absent("only x86 has this counter");
  Count count = counted(*statistics.ticks, Source::tsc);
  if (statistics.steady_ticks ? *statistics.steady_ticks : linux::time_stamp_is_invariant()) return count;
  return downgraded(count, Trust::partial, "this processor's counter may change its rate (no invariant TSC)");
}

bool never_counts(Id id) { return id == Id::bpf_output || id == Id::dummy; }

Count only_by_counter(Id id, const RunStatistics& statistics) {
  if (!linux::kernel_counts(*kernel_event(id))) return absent("the kernel counts none on this architecture");
  for (const KernelCount& count : statistics.kernel) {
    if (count.id != id || count.os_errno == 0) continue;
    return absent(
        fmt::format("the kernel refuses to count it: {} (`tally doctor` explains)", linux::errno_text(count.os_errno)));
  }
  return absent("only the kernel's counters have it: request only the kernel's own events, or use --backend none");
}

Count by_bookkeeping(Id id, const RunStatistics& statistics) {
  const linux::Usage& usage = statistics.usage;
  switch (id) {
    case Id::page_faults: return counted(usage.minor_faults + usage.major_faults, Source::wait4);
    case Id::minor_faults: return counted(usage.minor_faults, Source::wait4);
    case Id::major_faults: return counted(usage.major_faults, Source::wait4);
    case Id::context_switches: return counted(usage.voluntary_switches + usage.involuntary_switches, Source::wait4);
    case Id::voluntary_switches: return counted(usage.voluntary_switches, Source::wait4);
    case Id::involuntary_switches: return counted(usage.involuntary_switches, Source::wait4);
    case Id::task_clock:
    case Id::cpu_clock: return counted((usage.user + usage.system).count(), Source::wait4);
    case Id::user_time: return part_of_time(usage.user, usage.system);
    case Id::system_time: return part_of_time(usage.system, usage.user);
    case Id::duration_time: return counted(statistics.duration.count(), Source::clock);
    case Id::peak_memory: return peak_memory(usage);
    case Id::tsc: return time_stamp_ticks(statistics);
    case Id::core_cycles_estimate: return absent(without_native_run);
    default: break;
  }
  if (never_counts(id)) return absent("it never counts: perf opens it only for the records that it writes");
  return kernel_event(id) ? only_by_counter(id, statistics) : absent("not one of the kernel's values");
}

}  // namespace

std::optional<linux::KernelEvent> kernel_event(Id id) {
  const auto number = event::definition(id).kernel_number;
  if (!number || never_counts(id)) return std::nullopt;
  return static_cast<linux::KernelEvent>(*number);
}

KernelCounters::KernelCounters(const std::vector<event::Event>& events) {
  for (const event::Event& event : events) {
    const auto wanted = kernel_event(event.id);
    if (!wanted || !linux::kernel_counts(*wanted)) continue;
    opened_.push_back({event.id, linux::open_for_next_program(*wanted, event.id == Id::user_page_faults)});
  }
}

std::vector<KernelCount> KernelCounters::read() const {
  std::vector<KernelCount> counts;
  for (const Opened& one : opened_) counts.push_back({one.id, one.counter.os_errno, one.counter.read()});
  return counts;
}

void take_time(RunStatistics& statistics, const linux::Moment& start, const linux::Moment& end) {
  statistics.duration = end.time - start.time;
  if (!start.ticks || !end.ticks) return;
  statistics.ticks = static_cast<std::int64_t>(*end.ticks - *start.ticks);
}

namespace {

// The count of its counter, if it has one.
std::optional<Count> by_counter(const event::Event& event, const RunStatistics& statistics) {
  for (const KernelCount& kernel_count : statistics.kernel) {
    if (kernel_count.id != event.id || !kernel_count.value) continue;
    // Without times: the kernel never multiplexes such a counter.
    Count count = counted(static_cast<std::int64_t>(kernel_count.value->value), Source::kernel);
    return statistics.lost.empty() ? count : count_of_lost(event, statistics, std::move(count), statistics.lost);
  }
  return std::nullopt;
}

}  // namespace

Count software_count(const event::Event& event, const RunStatistics& statistics) {
  const auto was_enabled = [&](const KernelCount& count) {
    return count.id == event.id && count.value && count.value->enabled.count() > 0;
  };
  // A counter that was never enabled saw no execve: wait4(2) is as good.
  const bool saw_it = std::any_of(statistics.kernel.begin(), statistics.kernel.end(), was_enabled);
  return saw_it ? *by_counter(event, statistics) : by_bookkeeping(event.id, statistics);
}

Count software_count_so_far(const event::Event& event, const RunStatistics& statistics) {
  auto count = by_counter(event, statistics);
  return count ? *std::move(count) : only_by_counter(event.id, statistics);
}

RunStatistics expected_statistics(const event::Event& event) {
  RunStatistics statistics;
  statistics.usage.peak_rss_bytes = 1;
  if (event.id == Id::tsc) {
    const linux::Moment moment = linux::this_moment();
    take_time(statistics, moment, moment);
  }
  statistics.kernel = KernelCounters({event}).read();
  for (KernelCount& count : statistics.kernel) {
    if (count.os_errno == 0) count.value = linux::PerfValue{0, Nanoseconds{1}, Nanoseconds{1}};
  }
  return statistics;
}

bool all_software(const std::vector<WindowTrigger>& triggers) {
  return std::all_of(triggers.begin(), triggers.end(), [](const WindowTrigger& trigger) {
    return event::definition(trigger.event.id).kind == event::Kind::software;
  });
}

bool all_software(const std::vector<event::Event>& events) {
  return std::all_of(events.begin(), events.end(), [](const event::Event& event) {
    return event::definition(event.id).kind == event::Kind::software || !event.absent.empty();
  });
}

}  // namespace tally::backend
