// Whether this process has a 64-bit word in its memory, before and after it becomes another user. The argument is the
// word with each bit inverted: so only another party can have put the word there.
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

struct Range {
  std::uint64_t begin, end;
};

std::vector<Range> readable_memory() {
  std::vector<Range> ranges;
  // The process does not see the engine's mappings in its own list, but another process does.
  std::FILE* const maps = popen(("cat /proc/" + std::to_string(getpid()) + "/maps").c_str(), "r");
  char line[4096], readable = 0;
  Range range{};
  while (maps != nullptr && std::fgets(line, sizeof line, maps) != nullptr) {
    if (std::sscanf(line, "%lx-%lx %c", &range.begin, &range.end, &readable) == 3 && readable == 'r' &&
        range.begin >> 63 == 0)
      ranges.push_back(range);
  }
  if (maps != nullptr) pclose(maps);
  return ranges;
}

int copies(const std::vector<Range>& ranges, std::uint64_t turned) {
  static std::uint64_t page[512];
  static const int map = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);  // as the first user
  int n = 0;
  for (const Range& range : ranges) {
    // mincore() finds nothing at the engine's addresses.
    std::vector<std::uint64_t> present((range.end - range.begin) / sizeof page);
    const auto bytes = static_cast<ssize_t>(present.size() * sizeof present[0]);
    if (pread(map, present.data(), static_cast<std::size_t>(bytes), static_cast<off_t>(range.begin / 512)) != bytes)
      continue;
    for (std::size_t i = 0; i < present.size(); ++i) {
      const iovec to{page, sizeof page}, from{reinterpret_cast<void*>(range.begin + i * sizeof page), sizeof page};
      if (present[i] >> 63 == 0) continue;
      if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != static_cast<ssize_t>(sizeof page)) continue;
      for (std::uint64_t& word : page) {
        n += (word ^ turned) == ~std::uint64_t{0};
        word = 0;  // so that this copy is not found
      }
    }
  }
  return n;
}

}  // namespace

int main(int count, char** words) {
  if (count < 2) return 2;
  const std::uint64_t turned = std::strtoull(words[1], nullptr, 16);
  const std::vector<Range> ranges = readable_memory();
  const int before = copies(ranges, turned);
  if (setuid(65534) != 0) return 2;
  std::printf("%s %d\n", before > 0 ? "some" : "none", copies(ranges, turned));
}
