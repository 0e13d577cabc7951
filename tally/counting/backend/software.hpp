// Counts of software events from the kernel: the same for every backend that runs the program.
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

/// Returns the kernel's own number of an event; nothing if no counter of the kernel counts it.
std::optional<linux::KernelEvent> kernel_event(event::Id id);

/// The value of a kernel counter.
struct KernelCount {
  event::Id id = event::Id::page_faults;
  int os_errno = 0;                       ///< why the counter did not open; 0: it opened
  std::optional<linux::PerfValue> value;  ///< nothing if it did not open or could not be read
  bool operator==(const KernelCount&) const = default;
};

/// Counters for the software events of an order that the kernel counts (perf_event_open). The thread that starts the
/// program opens them before it does so. They count the program and its descendants from its execve on, in user mode
/// and kernel mode. Their values stay when the program is killed.
class KernelCounters {
 public:
  /// Opens the counters. Cost: a system call for each.
  explicit KernelCounters(const std::vector<event::Event>& events);

  /// Returns their values now. Cost: a system call for each.
  std::vector<KernelCount> read() const;

 private:
  struct Opened {
    event::Id id;
    linux::PerfCounter counter;
  };
  std::vector<Opened> opened_;
};

/// What the kernel and the clocks reported about one execution.
struct RunStatistics {
  linux::Usage usage;                 ///< from wait4(2)
  Nanoseconds duration{0};            ///< from start to end, by the monotonic clock
  std::optional<std::int64_t> ticks;  ///< of the time-stamp counter in that time; x86 only
  std::optional<bool> steady_ticks;   ///< whether the time-stamp counter runs at a constant rate; empty: ask CPUID
  std::vector<KernelCount> kernel;    ///< from KernelCounters::read()
  std::string lost = {};              ///< why they missed a part of the command; empty: they did not
  bool operator==(const RunStatistics&) const = default;
};

/// Sets duration and ticks.
void take_time(RunStatistics& statistics, const linux::Moment& start, const linux::Moment& end);

/// Reasons that ask for a native run.
inline constexpr const char* without_native_run = "it needs a native run: add --native to `tally stat`";
inline constexpr const char* slower_under_engine = "slower under the engine: use --native";

/// Returns the count of a software event: from its counter ("perf_event") if that opened, else from wait4(2), else
/// absent with the reason. Partial are: a memory peak below what the process had before it executed the program; ticks
/// of a counter that changes its rate; counts of a counter that was taken away (`lost`). A hardware event is absent.
Count software_count(const event::Event& event, const RunStatistics& statistics);

/// The same for an event with a counter of the kernel, while the program runs: 0 before the program begins. wait4(2)
/// reports nothing yet, so without a counter it is absent, with the reason.
Count software_count_so_far(const event::Event& event, const RunStatistics& statistics);

/// Returns the statistics of a run without any problem, to predict the trust of a software event. Opens its counter and
/// closes it again.
RunStatistics expected_statistics(const event::Event& event);

/// Whether every event is a software event, so that no counter of the processor is needed.
bool all_software(const std::vector<event::Event>& events);

/// The same for the events that end windows.
bool all_software(const std::vector<WindowTrigger>& triggers);

}  // namespace tally::backend
