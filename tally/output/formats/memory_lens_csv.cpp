// Rows in the format that LENS's scripts read.
#include <fmt/format.h>

#include <cmath>

#include "tally/output/text/memory.hpp"

namespace tally::report {

std::string memory_lens_csv(const result::Memory& memory) {
  std::string text = "region_size,block_size,count,total,cycle_write_start,cycle_read_start,cycle_read_end\r\n";
  const result::MemoryPoint* write = nullptr;
  for (const result::MemoryPoint& point : memory.points) {
    if (point.quantity == "write") write = &point;
    if (point.quantity != "read" || write == nullptr || !write->ns || !point.ns) continue;
    // A pass has the median time of a line; the stamps are from a clock with one tick per nanosecond.
    const double lines = static_cast<double>(point.region_bytes) / 64 * static_cast<double>(point.regions);
    const auto middle = std::llround(*write->ns * lines);
    const auto end = middle + std::llround(*point.ns * lines);
    text +=
        fmt::format("{},{},{},{},0,{},{}\r\n", point.region_bytes, point.block_bytes, point.regions, end, middle, end);
  }
  return text;
}

}  // namespace tally::report
