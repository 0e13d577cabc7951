// Maps ranges of a memory file one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tally/linux/files/memory_file.hpp"

namespace tally::linux {

/// A range of bytes in a file.
struct FileRange {
  std::uint64_t offset = 0;
  std::size_t bytes = 0;
};

/// Maps ranges of a memory file one after the other, to read and write; each begins and ends at a page boundary. The
/// same bytes may be mapped many times. Errors: cannot_measure.
Result<Mapping> map_ranges(int fd, const std::vector<FileRange>& ranges);

}  // namespace tally::linux
