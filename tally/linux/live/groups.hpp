// Control groups, and what each uses.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tally::linux {

/// Figures of a control group since it was made. Nothing where its controller is not switched on.
struct CgroupStatistics {
  std::string path;                                   ///< below the hierarchy: "/system.slice/ssh.service"
  std::optional<std::uint64_t> used_us;               ///< of processors: cpu.stat
  std::optional<std::uint64_t> throttled_us;          ///< by its own limit
  std::optional<std::uint64_t> memory_bytes;          ///< memory.current
  std::optional<std::uint64_t> faults, major_faults;  ///< memory.stat
  std::optional<std::uint64_t> memory_pressure_us, cpu_pressure_us;
  bool operator==(const CgroupStatistics&) const = default;
};

/// Where groups lie on this machine: the unified hierarchy, or the old ones of processor time and memory.
struct GroupHierarchy {
  std::string unified;          ///< folder; empty where there is none, or where it has no groups that account
  std::string cpuacct, memory;  ///< folders of the old ones
  bool operator==(const GroupHierarchy&) const = default;
};
GroupHierarchy group_hierarchy(const std::string& root);

/// All groups, by path, at most `most`; those beyond are left out. Cost: up to five files a group.
std::vector<CgroupStatistics> read_groups(const GroupHierarchy& hierarchy, std::size_t most);

}  // namespace tally::linux
