// Reads what the kernel counts for the whole machine and its CPUs without a PMU.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "programs/watch/live/folder_files.hpp"
#include "tally/core/base/units.hpp"

namespace tally::watch {

/// Times of a CPU, in ticks of /proc/stat: 10 ms each (USER_HZ, proc(5)).
struct ProcessorTimes {
  std::uint64_t user = 0;    ///< user and nice, with guests
  std::uint64_t kernel = 0;  ///< system, irq and softirq
  std::uint64_t idle = 0;    ///< without iowait
  std::uint64_t iowait = 0;  ///< idle while a task of this CPU waited for a disk
  std::uint64_t steal = 0;   ///< a hypervisor ran something else
  bool operator==(const ProcessorTimes&) const = default;
};

/// /proc/stat.
struct KernelTimes {
  std::map<int, ProcessorTimes> processors;  ///< those online
  std::optional<std::uint64_t> switches;     ///< context switches since boot
  std::optional<std::uint64_t> running;      ///< tasks that run or wait for a CPU now
  bool operator==(const KernelTimes&) const = default;
};

/// Parses /proc/stat. Skips unknown lines.
KernelTimes kernel_times(std::string_view text);

/// Returns how long tasks waited for each CPU, in nanoseconds, from /proc/schedstat: since version 15 it is the eighth
/// number in a CPU's line (Documentation/scheduler/sched-stats.rst). Empty if the file has none.
std::map<int, std::uint64_t> waiting_times(std::string_view text);

/// Parses pressure stall information (Documentation/accounting/psi.rst). Returns the microseconds in which at least one
/// task waited ("some … total=").
std::optional<std::uint64_t> pressure_microseconds(std::string_view text);

/// Statistics that are read together.
struct KernelStatistics {
  KernelTimes times;
  std::map<int, std::uint64_t> waited_ns;
  std::optional<std::uint64_t> faults, major_faults;  ///< /proc/vmstat: pgfault, pgmajfault
  std::optional<std::uint64_t> memory_bytes;          ///< in use: MemTotal − MemAvailable
  std::optional<std::uint64_t> cpu_pressure_us, memory_pressure_us, io_pressure_us;
  bool operator==(const KernelStatistics&) const = default;
};

/// Reads them from `proc`. Cost: seven files.
KernelStatistics read_kernel_statistics(FolderFiles& proc);

}  // namespace tally::watch
