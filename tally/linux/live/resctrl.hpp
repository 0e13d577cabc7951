// Cache occupancy and memory traffic by resctrl (Documentation/arch/x86/resctrl.rst).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace tally::linux {

/// What the domains of one L3 cache say. Nothing where the file is missing or says "Unavailable" or "Error".
struct CacheMonitor {
  std::optional<std::uint64_t> occupancy_bytes;
  std::optional<std::uint64_t> total_bytes, local_bytes;  ///< read and written since the start
  bool operator==(const CacheMonitor&) const = default;
};

/// Sums over all control groups, by the number of the L3 domain: a group's figures hold those of the monitoring groups
/// in it. Empty where /sys/fs/resctrl is not mounted or monitors nothing. Cost: three files a group and domain.
std::map<int, CacheMonitor> cache_monitors(const std::string& root);

/// Of monitoring groups that hold exactly one processor each (somebody made them so): its occupancy.
std::map<int, std::uint64_t> occupancy_by_processor(const std::string& root);

/// Whether the file system is mounted.
bool has_resctrl(const std::string& root);

/// The number of the L3 cache that a processor uses: cache/indexN/id of level 3. Nothing where it has none.
std::optional<int> l3_domain(int processor, const std::string& root);

}  // namespace tally::linux
