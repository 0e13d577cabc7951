// Rows in the format that LENS's scripts read.
#include <fmt/format.h>

#include <cmath>

#include "programs/memory_output/memory_format.hpp"

namespace tally::output {
namespace {

// Lines of all regions of a pass.
double lines_of_pass(const result::MemoryPoint& point) {
  return static_cast<double>(point.region_bytes) / 64 * static_cast<double>(point.regions);
}

}  // namespace

std::string memory_lens_csv(const result::Memory& memory) {
  // LENS's columns, then two of tally's: whose passes these are, and the unit of the stamps.
  std::string text =
      "region_size,block_size,count,total,cycle_write_start,cycle_read_start,cycle_read_end,task_name,ticks_per_ns\r\n";
  const double ticks_per_ns = memory.ticks_per_ns.value_or(1);
  const auto add = [&](const result::MemoryPoint& point, double first_ns, double second_ns) {
    const auto ticks = [&](double ns) { return std::llround(ns * ticks_per_ns); };
    text += fmt::format("{},{},{},{},0,{},{},{},{:.6g}\r\n", point.region_bytes, point.block_bytes, point.regions,
                        std::llround(first_ns + second_ns), ticks(first_ns), ticks(first_ns + second_ns), memory.task,
                        ticks_per_ns);
  };
  // A pass has the median time of a line. A pass without separate reads ends where they would begin.
  const result::MemoryPoint* write = nullptr;
  for (const result::MemoryPoint& point : memory.points) {
    if (!point.ns) continue;
    if (point.quantity == "write") write = &point;
    if (point.quantity == "write" && memory.task == "chase-write") add(point, *point.ns * lines_of_pass(point), 0);
    if (point.quantity == "raw" && memory.task == "chase-raw") add(point, *point.ns * lines_of_pass(point), 0);
    if (point.quantity == "read" && write != nullptr && write->region_bytes == point.region_bytes &&
        write->block_bytes == point.block_bytes) {
      add(point, *write->ns * lines_of_pass(point), *point.ns * lines_of_pass(point));
    }
  }
  return text;
}

}  // namespace tally::output
