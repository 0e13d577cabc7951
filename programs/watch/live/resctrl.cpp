#include "programs/watch/live/resctrl.hpp"

#include <filesystem>

#include "programs/watch/live/sensors.hpp"
#include "tally/core/base/text.hpp"
#include "tally/linux/files/files.hpp"

namespace tally::watch {
namespace {

namespace fs = std::filesystem;

fs::path base(const std::string& root) { return fs::path(root) / "sys/fs/resctrl"; }

void add(std::optional<std::uint64_t>& sum, const fs::path& file) {
  if (const auto number = number_in(file); number && *number >= 0) {
    sum = sum.value_or(0) + static_cast<std::uint64_t>(*number);
  }
}

void add_group(const fs::path& group, std::map<int, CacheMonitor>& all) {
  for (const std::string& domain : linux::folder_entries(group / "mon_data")) {
    // "mon_L3_01"
    if (!domain.starts_with("mon_L3_")) continue;
    const auto number = parse_integer(domain.substr(7));
    if (!number) continue;
    CacheMonitor& monitor = all[static_cast<int>(*number)];
    add(monitor.occupancy_bytes, group / "mon_data" / domain / "llc_occupancy");
    add(monitor.total_bytes, group / "mon_data" / domain / "mbm_total_bytes");
    add(monitor.local_bytes, group / "mon_data" / domain / "mbm_local_bytes");
  }
}

}  // namespace

bool has_resctrl(const std::string& root) {
  std::error_code error;
  return fs::exists(base(root) / "schemata", error) || fs::exists(base(root) / "mon_data", error);
}

std::map<int, CacheMonitor> cache_monitors(const std::string& root) {
  std::map<int, CacheMonitor> all;
  add_group(base(root), all);
  for (const std::string& name : linux::folder_entries(base(root))) {
    if (name != "info" && name != "mon_groups" && name != "mon_data") add_group(base(root) / name, all);
  }
  return all;
}

std::map<int, std::uint64_t> occupancy_by_processor(const std::string& root) {
  std::map<int, std::uint64_t> all;
  for (const std::string& name : linux::folder_entries(base(root) / "mon_groups")) {
    const fs::path group = base(root) / "mon_groups" / name;
    const auto processor = number_in(group / "cpus_list");
    if (!processor) continue;
    std::map<int, CacheMonitor> monitors;
    add_group(group, monitors);
    std::optional<std::uint64_t> bytes;
    for (const auto& [domain, monitor] : monitors) {
      if (monitor.occupancy_bytes) bytes = bytes.value_or(0) + *monitor.occupancy_bytes;
    }
    if (bytes) all[static_cast<int>(*processor)] = *bytes;
  }
  return all;
}

std::optional<int> l3_domain(int processor, const std::string& root) {
  const fs::path caches = fs::path(root) / "sys/devices/system/cpu" / ("cpu" + std::to_string(processor)) / "cache";
  for (const std::string& index : linux::folder_entries(caches)) {
    if (linux::content(caches / index / "level") != "3") continue;
    const auto id = number_in(caches / index / "id");
    return id ? std::optional<int>(static_cast<int>(*id)) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace tally::watch
