// What the kernel counts of a whole machine and of its processors by itself, without a PMU.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "tally/core/base/units.hpp"
#include "tally/linux/live/folder_files.hpp"

namespace tally::linux {

/// Time of a processor, in the ticks of /proc/stat: 10 ms each (USER_HZ, proc(5)).
struct ProcessorTimes {
  std::uint64_t busy = 0;   ///< user, nice, system, irq and softirq: guests are in user
  std::uint64_t idle = 0;   ///< idle and iowait
  std::uint64_t steal = 0;  ///< a hypervisor ran something else
  bool operator==(const ProcessorTimes&) const = default;
};

/// /proc/stat.
struct KernelTimes {
  std::map<int, ProcessorTimes> processors;  ///< that are switched on
  std::optional<std::uint64_t> switches;     ///< context switches since the start
  std::optional<std::uint64_t> running;      ///< tasks that run or wait for a processor now
  bool operator==(const KernelTimes&) const = default;
};

/// Meaning of the text of /proc/stat. Lines that are none are left out.
KernelTimes kernel_times(std::string_view text);

/// Time that tasks waited for each processor, in nanoseconds, of /proc/schedstat: its version 15 and later have it as
/// the eighth number of a processor's line (Documentation/scheduler/sched-stats.rst). Empty where it says nothing.
std::map<int, std::uint64_t> waiting_times(std::string_view text);

/// What share of time something was short of: Documentation/accounting/psi.rst.
/// The microseconds in which at least one task waited ("some … total=").
std::optional<std::uint64_t> pressure_microseconds(std::string_view text);

/// Figures that are read together.
struct KernelStatistics {
  KernelTimes times;
  std::map<int, std::uint64_t> waited_ns;
  std::optional<std::uint64_t> faults, major_faults;  ///< /proc/vmstat: pgfault, pgmajfault
  std::optional<std::uint64_t> memory_bytes;          ///< in use: MemTotal − MemAvailable
  std::optional<std::uint64_t> cpu_pressure_us, memory_pressure_us, io_pressure_us;
  bool operator==(const KernelStatistics&) const = default;
};

/// Reads them below /proc. Cost: seven files.
KernelStatistics read_kernel_statistics(FolderFiles& proc);

}  // namespace tally::linux
