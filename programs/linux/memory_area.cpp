#include "programs/linux/memory_area.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "programs/linux/nodes.hpp"
#include "tally/core/base/text.hpp"
#include "tally/linux/files/files.hpp"
#include "tally/linux/machine/pages.hpp"
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
std::uint64_t bytes_of(std::string_view lines, std::string_view key) {
  return std::strtoull(value_of(std::string(lines), key).c_str(), nullptr, 10) * kib;
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
  const std::uint64_t page = bytes_of(lines, "KernelPageSize");
  if (page == 0) return {};
  if (page == 2 * mib) return "2m";
  if (page == gib) return "1g";
  const std::uint64_t huge = bytes_of(lines, "AnonHugePages");
  if (huge == 0) return page == 4 * kib ? "4k" : fmt::format("{}k", page / kib);
  if (huge >= size_) return "thp";
  return fmt::format("thp {} %", huge * 100 / size_);
}

}  // namespace tally::linux
