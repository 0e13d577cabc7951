#include "tally/linux/machine/pages.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <limits>

#include "tally/core/base/text.hpp"
#include "tally/linux/files/files.hpp"

namespace tally::linux {
namespace {

// A cgroup hierarchy that limits memory, and the names of its files.
struct MemoryHierarchy {
  std::filesystem::path folder;
  std::string_view key;  // before the cgroup's path in /proc/self/cgroup
  const char* limit_file;
  const char* used_file;
  const char* kills_file;
};

std::array<MemoryHierarchy, 2> memory_hierarchies(const std::filesystem::path& root) {
  const std::filesystem::path groups = root / "sys/fs/cgroup";
  return {{{groups, "0::/", "memory.max", "memory.current", "memory.events"},
           {groups / "memory", ":memory:/", "memory.limit_in_bytes", "memory.usage_in_bytes", "memory.oom_control"}}};
}

// Returns the path of a process's cgroup below the hierarchy's directory, from the content of /proc/PID/cgroup.
std::filesystem::path group_of(const MemoryHierarchy& hierarchy, const std::string& own) {
  const auto at = own.find(hierarchy.key);
  const auto from = at + hierarchy.key.size();
  return at == std::string::npos ? "" : own.substr(from, own.find('\n', at) - from);
}

// Calls f for a cgroup and all above it.
template <class F>
void each_group_up(std::filesystem::path group, F f) {
  for (;; group = group.parent_path()) {
    f(group);
    if (group.empty()) return;
  }
}

// Returns the memory that the limits of a cgroup and all its ancestors leave; the maximum number if none has a limit.
std::uint64_t left_of(const MemoryHierarchy& hierarchy, const std::string& own) {
  std::uint64_t left = std::numeric_limits<std::uint64_t>::max();
  each_group_up(group_of(hierarchy, own), [&](const std::filesystem::path& group) {
    const auto limit = parse_integer(content(hierarchy.folder / group / hierarchy.limit_file));
    const auto used = parse_integer(content(hierarchy.folder / group / hierarchy.used_file));
    if (limit && used) left = std::min(left, static_cast<std::uint64_t>(std::max<std::int64_t>(*limit - *used, 0)));
  });
  return left;
}

}  // namespace

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

std::optional<std::uint64_t> available_bytes(const std::string& root) {
  const std::filesystem::path folder = root;
  const std::string meminfo = content(folder / "proc/meminfo");
  std::uint64_t available = std::numeric_limits<std::uint64_t>::max();
  if (const auto kib = std::strtoull(value_of(meminfo, "MemAvailable").c_str(), nullptr, 10); kib > 0)
    available = kib * 1024;
  const std::string own = content(folder / "proc/self/cgroup");
  for (const MemoryHierarchy& hierarchy : memory_hierarchies(folder))
    available = std::min(available, left_of(hierarchy, own));
  if (available == std::numeric_limits<std::uint64_t>::max()) return std::nullopt;
  return available;
}

std::optional<MemoryKills> memory_kills(const std::string& root, bool with_limit) {
  const std::string own = content(std::filesystem::path(root) / "proc/self/cgroup");
  for (const MemoryHierarchy& hierarchy : memory_hierarchies(root)) {
    const std::filesystem::path group = group_of(hierarchy, own);
    const std::string events = content(hierarchy.folder / group / hierarchy.kills_file);
    constexpr std::string_view key = "oom_kill ";
    const auto at = events.find("\n" + std::string(key));
    if (at == std::string::npos) continue;
    MemoryKills kills;
    kills.processes = std::strtoull(events.c_str() + at + 1 + key.size(), nullptr, 10);
    kills.group = "/" + group.string();
    if (!with_limit) return kills;
    // cgroup v1 writes a number that no memory can have instead of "max".
    constexpr std::int64_t most = 1LL << 62;
    each_group_up(group, [&](const std::filesystem::path& above) {
      const auto limit = parse_integer(content(hierarchy.folder / above / hierarchy.limit_file));
      if (!limit || *limit >= most || (kills.limit_bytes && static_cast<std::uint64_t>(*limit) >= *kills.limit_bytes))
        return;
      kills.limit_bytes = static_cast<std::uint64_t>(*limit);
      kills.limit_file = (hierarchy.folder / above / hierarchy.limit_file).string();
    });
    return kills;
  }
  return std::nullopt;
}

}  // namespace tally::linux
