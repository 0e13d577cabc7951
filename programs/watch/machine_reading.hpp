// The data read from a machine at one time. Two readings make a table.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "programs/watch/live/groups.hpp"
#include "programs/watch/live/kernel_statistics.hpp"
#include "programs/watch/live/process_list.hpp"
#include "programs/watch/live/resctrl.hpp"
#include "programs/watch/live/sensors.hpp"
#include "tally/core/base/units.hpp"

namespace tally::watch {

/// What kernel counters count on each processor, and per socket outside the cores.
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
  reference_cycles,
};
inline constexpr std::size_t counted_count = 16;

/// Running sums; no value for events that were not counted all the time.
using Sums = std::array<std::optional<double>, counted_count>;

/// The values of all counters.
struct Counts {
  std::map<int, Sums> processors;
  std::map<int, Sums> sockets;
  bool operator==(const Counts&) const = default;
};

/// The counter values of processes, by pid, or of groups, by path, and the reasons for those that could not be opened.
template <class Key>
struct TaskReadings {
  std::map<Key, Sums> sums;
  std::map<Key, std::size_t> reasons;
};

/// All data read at one time.
struct Reading {
  Nanoseconds wall{0};                 ///< since 1970
  Nanoseconds time{0};                 ///< on the monotonic clock
  std::optional<std::uint64_t> ticks;  ///< of the time-stamp counter
  Nanoseconds own_time{0};             ///< CPU time that tally itself has used
  KernelStatistics kernel;
  std::map<int, double> hertz;                            ///< by processor
  std::vector<std::optional<std::int64_t>> temperatures;  ///< millidegrees, one per sensor
  std::vector<std::optional<std::uint64_t>> energies;     ///< microjoules, one per counter
  std::map<int, CacheMonitor> caches;                     ///< by L3 domain
  std::map<int, std::uint64_t> occupancy;                 ///< by processor
  std::map<int, double> uncore_hertz;                     ///< by socket
  Counts counts;
  std::vector<ProcessStatistics> processes;
  std::map<int, ProcessDetails> details;  ///< of the processes that are shown
  std::vector<CgroupStatistics> groups;
  TaskReadings<int> process_counts;        ///< of the processes that are shown
  TaskReadings<std::string> group_counts;  ///< of the groups that are shown
  bool hides_processes = false;            ///< those of other users are missing
};

}  // namespace tally::watch
