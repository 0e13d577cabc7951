// Reads cache occupancy and memory traffic from resctrl (Documentation/arch/x86/resctrl.rst).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace tally::watch {

/// Values of one L3 domain. Nothing if the file is missing or contains "Unavailable" or "Error".
struct CacheMonitor {
  std::optional<std::uint64_t> occupancy_bytes;
  std::optional<std::uint64_t> total_bytes, local_bytes;  ///< read and written since the start
  bool operator==(const CacheMonitor&) const = default;
};

/// Returns sums over all control groups, by the number of the L3 domain; the values of a group include its monitoring
/// groups. Empty if /sys/fs/resctrl is not mounted or monitors nothing. Cost: three files for each group and domain.
std::map<int, CacheMonitor> cache_monitors(const std::string& root);

/// Returns the occupancy by CPU, from monitoring groups of exactly one CPU each, which must have been created for that.
std::map<int, std::uint64_t> occupancy_by_processor(const std::string& root);

/// Whether the file system is mounted.
bool has_resctrl(const std::string& root);

/// Returns the number of the L3 cache of a CPU: cache/indexN/id of level 3. Nothing without an L3 cache.
std::optional<int> l3_domain(int processor, const std::string& root);

}  // namespace tally::watch
