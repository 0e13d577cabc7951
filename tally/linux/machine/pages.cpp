#include "tally/linux/machine/pages.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>

#include "tally/core/base/text.hpp"
#include "tally/linux/files/files.hpp"
#include "tally/linux/machine/nodes.hpp"
#include "tally/linux/system_call.hpp"

namespace tally::linux {
namespace {

constexpr std::size_t kib = 1024;
constexpr std::size_t mib = 1024 * kib;
constexpr std::size_t gib = 1024 * mib;

// MAP_HUGE_2MB and MAP_HUGE_1GB of linux/mman.h: log2 of the page size above bit 26.
constexpr int huge_2m_flag = 21 << 26;
constexpr int huge_1g_flag = 30 << 26;

std::size_t alignment_of(PageKind kind) { return kind == PageKind::huge_1g ? gib : 2 * mib; }

std::size_t rounded_up(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

int flags_of(PageKind kind) {
  constexpr int anonymous = MAP_PRIVATE | MAP_ANONYMOUS;
  if (kind == PageKind::huge_2m) return anonymous | MAP_HUGETLB | huge_2m_flag;
  if (kind == PageKind::huge_1g) return anonymous | MAP_HUGETLB | huge_1g_flag;
  return anonymous;
}

std::string how_to_reserve(PageKind kind, std::size_t bytes) {
  if (kind != PageKind::huge_2m && kind != PageKind::huge_1g) return "use a smaller --to";
  const std::size_t page = alignment_of(kind);
  return fmt::format(
      "huge pages are reserved by root: echo {} >/sys/kernel/mm/hugepages/hugepages-{}kB/nr_hugepages; "
      "--pages thp needs none",
      rounded_up(bytes, page) / page, page / kib);
}

// Returns the lines of /proc/self/smaps from the mapping with this address on.
std::string_view part_of(std::string_view smaps, std::uintptr_t address) {
  while (!smaps.empty()) {
    const std::string_view line = smaps.substr(0, smaps.find('\n'));
    const auto dash = line.find('-');
    if (dash != std::string_view::npos && dash > 0 && line.find(':') > dash) {
      const std::uint64_t from = std::strtoull(std::string(line.substr(0, dash)).c_str(), nullptr, 16);
      const std::uint64_t to = std::strtoull(std::string(line.substr(dash + 1, 16)).c_str(), nullptr, 16);
      if (from <= address && address < to) return smaps;
    }
    if (line.size() == smaps.size()) break;
    smaps.remove_prefix(line.size() + 1);
  }
  return {};
}

// "AnonHugePages:  2048 kB" → 2097152.
std::uint64_t field(std::string_view lines, std::string_view key) {
  const auto at = lines.find(key);
  if (at == std::string_view::npos) return 0;
  return std::strtoull(std::string(lines.substr(at + key.size(), 24)).c_str(), nullptr, 10) * kib;
}

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

std::string_view name(PageKind kind) {
  switch (kind) {
    case PageKind::small: return "4k";
    case PageKind::transparent: return "thp";
    case PageKind::huge_2m: return "2m";
    case PageKind::huge_1g: return "1g";
  }
  return "4k";
}

std::span<const PageKind> page_kinds() {
  static constexpr std::array all{PageKind::small, PageKind::transparent, PageKind::huge_2m, PageKind::huge_1g};
  return all;
}

std::optional<PageKind> page_kind_of(std::string_view word) {
  for (const PageKind kind : page_kinds()) {
    if (same_word(word, name(kind))) return kind;
  }
  return std::nullopt;
}

Result<Area> Area::map(std::size_t bytes, PageKind kind, std::optional<int> node) {
  const std::size_t alignment = alignment_of(kind);
  const bool reserved = kind == PageKind::huge_2m || kind == PageKind::huge_1g;
  const std::size_t size = rounded_up(bytes, reserved ? alignment : page_bytes());
  // Takes an aligned part of a larger range, because the kernel aligns only hugetlb mappings.
  const std::size_t range = reserved ? size : size + alignment;
  void* const at = mmap(nullptr, range, PROT_READ | PROT_WRITE, flags_of(kind), -1, 0);
  if (at == MAP_FAILED) {
    return system_failure(
        Code::cannot_measure,
        fmt::format("cannot map {} of {} pages", bytes_text(static_cast<std::int64_t>(size)), name(kind)),
        how_to_reserve(kind, size));
  }
  Area area;
  area.mapping_ = Mapping(static_cast<std::uint8_t*>(at), range);
  area.size_ = size;
  auto* const first = static_cast<std::byte*>(at);
  area.data_ = first + (rounded_up(reinterpret_cast<std::uintptr_t>(at), alignment) -  // NOLINT(*-reinterpret-cast)
                        reinterpret_cast<std::uintptr_t>(at));                         // NOLINT(*-reinterpret-cast)
  if (!reserved) {
    // A kernel without transparent huge pages refuses; got() reports the result.
    (void)madvise(first, range, kind == PageKind::transparent ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  }
  if (node) {
    if (auto bound = bind_to_node(at, range, *node); !bound) return fail(bound.error());
  }
  for (std::size_t offset = 0; offset < size; offset += page_bytes()) area.data_[offset] = std::byte{1};
  if (const int got = node ? node_of(area.data_ + size - 1) : -1; got >= 0 && got != *node) {
    return fail(Code::cannot_measure,
                fmt::format("requested memory of node {}, but the kernel allocated it on node {}", *node, got),
                "omit --node to use any node");
  }
  return area;
}

Result<Area> Area::map_file(const std::string& path, std::size_t bytes) {
  const Descriptor file(retry([&] { return open(path.c_str(), O_RDWR | O_CLOEXEC); }));
  const std::string what = fmt::format("cannot use '{}' as memory", printable(path));
  if (!file) return system_failure(Code::cannot_measure, what, "the file is written to: it must exist and be writable");
  struct stat status {};
  if (fstat(file.get(), &status) != 0) return system_failure(Code::cannot_measure, what);
  if (S_ISREG(status.st_mode) && static_cast<std::size_t>(status.st_size) < bytes) {
    return fail(Code::cannot_measure,
                fmt::format("{}: it has {}, but {} is needed", what, bytes_text(status.st_size),
                            bytes_text(static_cast<std::int64_t>(bytes))),
                fmt::format("truncate -s {} makes it long enough; a smaller --to needs less", bytes));
  }
  const std::size_t size = rounded_up(bytes, 2 * mib);  // devdax maps its own whole pages, usually 2 MiB
  void* const at =
      mmap(nullptr, S_ISREG(status.st_mode) ? bytes : size, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (at == MAP_FAILED) return system_failure(Code::cannot_measure, what);
  Area area;
  area.mapping_ = Mapping(static_cast<std::uint8_t*>(at), S_ISREG(status.st_mode) ? bytes : size);
  area.data_ = static_cast<std::byte*>(at);
  area.size_ = bytes;
  for (std::size_t offset = 0; offset < bytes; offset += page_bytes()) area.data_[offset] = std::byte{1};
  return area;
}

std::string Area::got() const {
  const std::string smaps = content("/proc/self/smaps");
  const auto lines = part_of(smaps, reinterpret_cast<std::uintptr_t>(data_));  // NOLINT(*-reinterpret-cast)
  const std::uint64_t page = field(lines, "KernelPageSize:");
  if (page == 0) return {};
  if (page == 2 * mib) return "2m";
  if (page == gib) return "1g";
  const std::uint64_t huge = field(lines, "AnonHugePages:");
  if (huge == 0) return page == 4 * kib ? "4k" : fmt::format("{}k", page / kib);
  if (huge >= size_) return "thp";
  return fmt::format("thp {} %", huge * 100 / size_);
}

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

std::optional<std::uint64_t> available_bytes(const std::string& root) {
  const std::filesystem::path folder = root;
  const std::string meminfo = content(folder / "proc/meminfo");
  std::uint64_t available = std::numeric_limits<std::uint64_t>::max();
  if (const std::uint64_t bytes = field(meminfo, "MemAvailable:"); bytes > 0) available = bytes;
  const std::string own = content(folder / "proc/self/cgroup");
  for (const MemoryHierarchy& hierarchy : memory_hierarchies(folder))
    available = std::min(available, left_of(hierarchy, own));
  if (available == std::numeric_limits<std::uint64_t>::max()) return std::nullopt;
  return available;
}

std::optional<MemoryKills> memory_kills(const std::string& root) {
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
