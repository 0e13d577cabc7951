#include "programs/watch/live/groups.hpp"

#include <algorithm>
#include <filesystem>

#include "programs/watch/live/folder_files.hpp"
#include "programs/watch/live/kernel_statistics.hpp"
#include "tally/linux/files/files.hpp"

namespace tally::watch {
namespace {

namespace fs = std::filesystem;

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

// Returns all directories below `base`, which is "/" itself.
std::vector<std::string> group_paths(const std::string& base, std::size_t most) {
  std::vector<std::string> all{"/"};
  // Not recursive_directory_iterator: a cgroup that vanishes meanwhile must only end the list of its own directory.
  for (std::size_t next = 0; next < all.size() && all.size() < most; ++next) {
    const std::string folder = base + (next == 0 ? "" : all[next]);
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end && all.size() < most; at.increment(error)) {
      std::error_code ignored;
      if (at->is_directory(ignored) && !at->is_symlink(ignored)) all.push_back(at->path().string().substr(base.size()));
    }
  }
  std::sort(all.begin(), all.end());
  return all;
}

CgroupStatistics unified_statistics(FolderFiles& files, const std::string& path) {
  CgroupStatistics group;
  group.path = path;
  const std::string below = path == "/" ? "" : path.substr(1) + "/";
  const std::string_view cpu = files.text((below + "cpu.stat").c_str());
  group.used_us = number_after(cpu, "usage_usec");
  group.user_us = number_after(cpu, "user_usec");
  group.kernel_us = number_after(cpu, "system_usec");
  group.throttled_us = number_after(cpu, "throttled_usec");
  group.memory_bytes = leading_number(files.text((below + "memory.current").c_str()));
  const std::string_view memory = files.text((below + "memory.stat").c_str());
  group.faults = number_after(memory, "pgfault");
  group.major_faults = number_after(memory, "pgmajfault");
  group.memory_pressure_us = pressure_microseconds(files.text((below + "memory.pressure").c_str()));
  group.cpu_pressure_us = pressure_microseconds(files.text((below + "cpu.pressure").c_str()));
  return group;
}

// Directories of cgroup v1, and the unified one next to them, which then only reports pressure.
struct SeparateFiles {
  explicit SeparateFiles(const GroupHierarchy& hierarchy)
      : cpuacct(hierarchy.cpuacct), cpu(hierarchy.cpu), memory(hierarchy.memory), pressure(hierarchy.pressure) {}

  FolderFiles cpuacct, cpu, memory, pressure;
};

// The cgroup v1 hierarchies are separate; whether a cgroup has the same path in each depends on its manager.
void add_cgroup1_statistics(SeparateFiles& files, CgroupStatistics& group) {
  const std::string below = group.path == "/" ? "" : group.path.substr(1) + "/";
  const auto microseconds = [&](const char* name) -> std::optional<std::uint64_t> {
    const auto ns = leading_number(files.cpuacct.text((below + name).c_str()));
    return ns ? std::optional(*ns / 1000) : std::nullopt;
  };
  group.used_us = microseconds("cpuacct.usage");
  group.user_us = microseconds("cpuacct.usage_user");
  group.kernel_us = microseconds("cpuacct.usage_sys");
  if (const auto ns = number_after(files.cpu.text((below + "cpu.stat").c_str()), "throttled_time"))
    group.throttled_us = *ns / 1000;
  group.memory_bytes = leading_number(files.memory.text((below + "memory.usage_in_bytes").c_str()));
  const std::string_view stat = files.memory.text((below + "memory.stat").c_str());
  group.faults = number_after(stat, "pgfault");
  group.major_faults = number_after(stat, "pgmajfault");
  group.memory_pressure_us = pressure_microseconds(files.pressure.text((below + "memory.pressure").c_str()));
  group.cpu_pressure_us = pressure_microseconds(files.pressure.text((below + "cpu.pressure").c_str()));
}

}  // namespace

GroupHierarchy group_hierarchy(const std::string& root) {
  GroupHierarchy found;
  const fs::path base = fs::path(root) / "sys/fs/cgroup";
  // cgroups below the root show whether accounting is on: the root has cpu.stat in either case.
  if (is_file(base / "cgroup.controllers")) found.unified = base;
  if (!found.unified.empty()) return found;
  for (const char* name : {"cpuacct", "cpu,cpuacct"}) {
    if (found.cpuacct.empty() && is_file(base / name / "cpuacct.usage")) found.cpuacct = base / name;
  }
  for (const char* name : {"cpu", "cpu,cpuacct"}) {
    if (found.cpu.empty() && is_file(base / name / "cpu.stat")) found.cpu = base / name;
  }
  if (is_file(base / "memory/memory.usage_in_bytes")) found.memory = base / "memory";
  if (is_file(base / "unified/cgroup.controllers")) found.pressure = base / "unified";
  return found;
}

std::vector<CgroupStatistics> read_groups(const GroupHierarchy& hierarchy, std::size_t most) {
  std::vector<CgroupStatistics> all;
  if (!hierarchy.unified.empty()) {
    FolderFiles files(hierarchy.unified);
    for (const std::string& path : group_paths(hierarchy.unified, most)) all.push_back(unified_statistics(files, path));
    return all;
  }
  std::vector<std::string> paths;
  for (const std::string& base : {hierarchy.cpuacct, hierarchy.memory}) {
    if (base.empty()) continue;
    for (std::string& path : group_paths(base, most)) paths.push_back(std::move(path));
  }
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  if (paths.size() > most) paths.resize(most);
  SeparateFiles files(hierarchy);
  for (std::string& path : paths) {
    CgroupStatistics group;
    group.path = std::move(path);
    add_cgroup1_statistics(files, group);
    all.push_back(std::move(group));
  }
  return all;
}

}  // namespace tally::watch
