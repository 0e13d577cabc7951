// Maps memory to measure, in fresh pages of a requested kind, and reports their actual kind.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tally/core/base/result.hpp"
#include "tally/linux/files/memory_file.hpp"

namespace tally::linux {

/// Kind of the pages of an area.
enum class PageKind {
  small,        ///< base pages, 4 KiB on x86
  transparent,  ///< transparent huge pages, with madvise
  huge_2m,      ///< hugetlb
  huge_1g,
};

/// Returns the name: "4k", "thp", "2m", "1g".
std::string_view name(PageKind kind);

/// Returns the kind with that name; no kind for any other word.
std::optional<PageKind> page_kind_of(std::string_view word);

/// Returns all kinds, as --pages accepts them.
std::span<const PageKind> page_kinds();

/// Anonymous memory in which every page was written, so that it has frames of its own. Can be moved, not copied.
class Area {
 public:
  /// Maps `bytes` (rounded up to whole pages of the kind), aligned to 2 MiB, or 1 GiB for such pages; from one memory
  /// node if given. Errors: cannot_measure, with the kernel's error and, for hugetlb, how to reserve pages; also if the
  /// pages came from another node.
  static Result<Area> map(std::size_t bytes, PageKind kind, std::optional<int> node = {});

  /// The same for a file, memory file or device, which is written: /dev/shm, fsdax, devdax. Errors: cannot_measure if
  /// it cannot be opened for writing, is too small, or cannot be mapped.
  static Result<Area> map_file(const std::string& path, std::size_t bytes);

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

  /// Returns the actual kind from /proc/self/smaps: "4k", "thp", "2m", "1g"; "thp 37 %" if only part of it has
  /// transparent huge pages; empty if the kernel does not report it. Cost: one file, some milliseconds per GiB.
  std::string got() const;

 private:
  Area() = default;

  Mapping mapping_;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace tally::linux
