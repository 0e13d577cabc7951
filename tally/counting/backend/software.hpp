// The kernel's own figures as counts: the same for every backend that runs the program.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tally/core/count/count.hpp"
#include "tally/counting/backend/order.hpp"
#include "tally/hardware/event/event.hpp"
#include "tally/linux/machine/time_stamp.hpp"
#include "tally/linux/perf/perf_event.hpp"
#include "tally/linux/process/usage.hpp"

namespace tally::backend {

/// The kernel's own number for an event; nothing for one that it does not count in a counter.
std::optional<linux::KernelEvent> kernel_event(event::Id id);

/// What a counter of the kernel held.
struct KernelCount {
  event::Id id = event::Id::page_faults;
  int os_errno = 0;                       ///< why the counter did not open; 0: it did
  std::optional<linux::PerfValue> value;  ///< nothing where it did not, or could not be read
  bool operator==(const KernelCount&) const = default;
};

/// Counters for those software events of an order that the kernel counts (perf_event_open). They are opened before the
/// program is started, by the thread that starts it, and count it and all that it starts, from its execve on, in user
/// mode and kernel. What they have counted stays when the program is killed.
class KernelCounters {
 public:
  /// Cost: a system call for each.
  explicit KernelCounters(const std::vector<event::Event>& events);

  /// What they hold now. Cost: a system call for each.
  std::vector<KernelCount> read() const;

 private:
  struct Opened {
    event::Id id;
    linux::PerfCounter counter;
  };
  std::vector<Opened> opened_;
};

/// What the kernel, and the clocks, said about one execution.
struct RunStatistics {
  linux::Usage usage;                 ///< by wait4(2)
  Nanoseconds duration{0};            ///< from its start to its end, by the monotonic clock
  std::optional<std::int64_t> ticks;  ///< of the time-stamp counter, in that time; x86 only
  bool steady_ticks = false;          ///< it ran at one rate
  std::vector<KernelCount> kernel;    ///< of KernelCounters::read()
  std::string lost = {};              ///< why these do not have all of the command; empty: they do
  bool operator==(const RunStatistics&) const = default;
};

/// Fills duration and ticks.
void take_time(RunStatistics& statistics, const linux::Moment& start, const linux::Moment& end);

/// The count of a software event: by its counter ("perf_event") where that opened, else from wait4(2), else absent with
/// the reason. A peak of memory that hides below what the process had before its program was executed is partial, and
/// so are ticks of a counter that changes its rate, and what a counter did not see for it was taken away (`lost`). A
/// hardware event is absent: this is not where it comes from.
Count software_count(const event::Event& event, const RunStatistics& statistics);

/// Figures as they would be of a program that ran without any trouble, to see what a software event will be worth.
/// Opens its counter, and closes it again.
RunStatistics expected_statistics(const event::Event& event);

/// True where every event is a software event: no counter of the processor is needed.
bool all_software(const std::vector<event::Event>& events);

/// The same of the events that end windows.
bool all_software(const std::vector<WindowTrigger>& triggers);

}  // namespace tally::backend
