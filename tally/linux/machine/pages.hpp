// Memory to be measured: fresh pages of a kind that was asked for, and of which kind they became.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tally/core/base/result.hpp"
#include "tally/linux/files/memory_file.hpp"

namespace tally::linux {

/// What backs an area.
enum class PageKind {
  small,        ///< base pages, 4 KiB on x86
  transparent,  ///< transparent huge pages, by madvise
  huge_2m,      ///< hugetlb
  huge_1g,
};

/// Its name: "4k", "thp", "2m", "1g".
std::string_view name(PageKind kind);

/// The kind of that name; nothing for any other word.
std::optional<PageKind> page_kind_of(std::string_view word);

/// All of them, as --pages takes them.
std::span<const PageKind> page_kinds();

/// Anonymous memory, every page written, so that it has frames of its own. Moves, never copies.
class Area {
 public:
  /// Maps `bytes` (rounded up to whole pages of the kind), aligned to 2 MiB, or 1 GiB for such pages, of one memory
  /// node where one is named. Errors: cannot_measure, with what the kernel answered and, for hugetlb, how pages are
  /// reserved; also where pages of another node came.
  static Result<Area> map(std::size_t bytes, PageKind kind, std::optional<int> node = {});

  /// The same of a file, memory file or device that is written to: /dev/shm, fsdax, devdax. Errors: cannot_measure,
  /// where it cannot be opened for writing, is too small, or cannot be mapped.
  static Result<Area> map_file(const std::string& path, std::size_t bytes);

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

  /// What backs it according to /proc/self/smaps: "4k", "thp", "2m", "1g"; "thp 37 %" where only a part of it got
  /// transparent huge pages; empty where the kernel does not say. Cost: one file read, some milliseconds per GiB.
  std::string got() const;

 private:
  Area() = default;

  Mapping mapping_;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Bytes of a base page.
std::size_t page_bytes();

/// Memory that this process may still take: what the kernel calls available, and less where a control group's limit
/// leaves less. Nothing where it does not say. `root` is where proc/ and sys/ lie.
std::optional<std::uint64_t> available_bytes(const std::string& root = "/");

}  // namespace tally::linux
