#include "programs/linux/memory_ranges.hpp"

#include <sys/mman.h>

#include "tally/linux/system_call.hpp"

namespace tally::linux {

Result<Mapping> map_ranges(int fd, const std::vector<FileRange>& ranges) {
  std::size_t bytes = 0;
  for (const FileRange& range : ranges) bytes += range.bytes;
  const auto failed = [] {
    return system_failure(Code::cannot_measure, "cannot map memory (mmap)",
                          "a limit on address space (`ulimit -v`) may be too low");
  };
  // Reserves one address range; each file range is mapped into its part.
  void* const at = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return failed();
  Mapping mapping(static_cast<std::uint8_t*>(at), bytes);
  std::size_t done = 0;
  for (const FileRange& file_range : ranges) {
    if (mmap(mapping.data() + done, file_range.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE,
             fd, static_cast<off_t>(file_range.offset)) == MAP_FAILED) {
      return failed();
    }
    done += file_range.bytes;
  }
  return mapping;
}

}  // namespace tally::linux
