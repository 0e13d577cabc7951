// What is read of a machine at one moment. Two of them make a table.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tally/core/base/units.hpp"
#include "tally/linux/live/groups.hpp"
#include "tally/linux/live/kernel_statistics.hpp"
#include "tally/linux/live/processes.hpp"
#include "tally/linux/live/resctrl.hpp"
#include "tally/linux/live/sensors.hpp"

namespace tally::watch {

/// What counters of the kernel count on each processor, and around them in each socket.
enum class Counted {
  instructions,
  cycles,
  l3_misses,
  l3_hits,
  l2_misses,
  l2_hits,
  faults,
  switches,
  read_bytes,
  written_bytes,
  processor_joules,
  memory_joules,
  uncore_clocks,
  reads_pending,
  reads_missed,
};
inline constexpr std::size_t counted_count = 15;

/// Running sums; nothing where something was not counted, or was not for a part of the time.
using Sums = std::array<std::optional<double>, counted_count>;

/// What all counters hold.
struct Counts {
  std::map<int, Sums> processors;
  std::map<int, Sums> sockets;
  bool operator==(const Counts&) const = default;
};

/// What counters of processes, by number, or of groups, by path, hold; and of those that could not be opened the
/// reason.
template <class Key>
struct TaskReadings {
  std::map<Key, Sums> sums;
  std::map<Key, std::size_t> reasons;
};

/// Everything at one moment.
struct Reading {
  Nanoseconds wall{0};                 ///< since 1970
  Nanoseconds time{0};                 ///< of the monotonic clock
  std::optional<std::uint64_t> ticks;  ///< of the time-stamp counter
  Nanoseconds own_time{0};             ///< that tally itself has used of processors
  linux::KernelStatistics kernel;
  std::map<int, double> hertz;                            ///< of processors
  std::vector<std::optional<std::int64_t>> temperatures;  ///< thousandths of degrees, a sensor each
  std::vector<std::optional<std::uint64_t>> energies;     ///< microjoules, a counter each
  std::map<int, linux::CacheMonitor> caches;              ///< by L3 domain
  std::map<int, std::uint64_t> occupancy;                 ///< by processor
  std::map<int, double> uncore_hertz;                     ///< by socket
  Counts counts;
  std::vector<linux::ProcessStatistics> processes;
  std::map<int, linux::ProcessDetails> details;  ///< of the processes that are shown
  std::vector<linux::CgroupStatistics> groups;
  TaskReadings<int> process_counts;        ///< of the processes that are shown
  TaskReadings<std::string> group_counts;  ///< of the groups that are shown
};

}  // namespace tally::watch
