// Sums over all processes of a name, for series that the user asks for.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "programs/watch/live/process_list.hpp"

namespace tally::serve {

/// What the processes of one name use and used. Counters include processes that ended.
struct ProcessSum {
  std::uint64_t processes = 0, threads = 0, resident_bytes = 0;  ///< now
  std::uint64_t ticks = 0;                                       ///< of 10 ms, since the exporter began
  std::uint64_t faults = 0, major_faults = 0;
  bool operator==(const ProcessSum&) const = default;
};

/// The name that the kernel has for a process started as `name`: its first 15 bytes.
std::string kernel_name(const std::string& name);

/// Follows the processes with these names. The number of series does not depend on the number of processes.
class ProcessSums {
 public:
  explicit ProcessSums(std::vector<std::string> names);

  /// Adds a reading of all processes. A process that was running in the first reading counts from there, a later one
  /// from its start. Time that a process used after the last reading before its end is not known.
  void add(const std::vector<watch::ProcessStatistics>& processes);

  /// By the names that were asked for, in their order.
  const std::vector<std::pair<std::string, ProcessSum>>& sums() const { return sums_; }

 private:
  using Key = std::pair<int, std::uint64_t>;  // its ID, and when it started

  std::vector<std::pair<std::string, ProcessSum>> sums_;
  std::map<Key, watch::ProcessStatistics> last_;
  bool is_first_ = true;
};

}  // namespace tally::serve
