// Reads what each cgroup uses.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tally::watch {

/// Statistics of a cgroup since its creation. Nothing if the controller is off.
struct CgroupStatistics {
  std::string path;                                   ///< in the hierarchy: "/system.slice/ssh.service"
  std::optional<std::uint64_t> used_us;               ///< CPU time: cpu.stat
  std::optional<std::uint64_t> user_us, kernel_us;    ///< parts of it
  std::optional<std::uint64_t> throttled_us;          ///< by its own limit
  std::optional<std::uint64_t> memory_bytes;          ///< memory.current
  std::optional<std::uint64_t> faults, major_faults;  ///< memory.stat
  std::optional<std::uint64_t> memory_pressure_us, cpu_pressure_us;
  bool operator==(const CgroupStatistics&) const = default;
};

/// Where the cgroups of this machine are: the unified hierarchy, or those of cgroup v1.
struct GroupHierarchy {
  std::string unified;          ///< directory; empty if there is none, or if its cgroups do no accounting
  std::string cpuacct, memory;  ///< directories of cgroup v1
  std::string cpu = {};         ///< also of cgroup v1
  std::string pressure = {};    ///< the unified hierarchy next to cgroup v1: without controllers
  bool operator==(const GroupHierarchy&) const = default;
};
GroupHierarchy group_hierarchy(const std::string& root);

/// Returns all cgroups, by path, but at most `most`. Cost: up to eight files for each.
std::vector<CgroupStatistics> read_groups(const GroupHierarchy& hierarchy, std::size_t most);

}  // namespace tally::watch
