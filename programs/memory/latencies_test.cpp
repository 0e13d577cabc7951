#include "programs/memory/latencies.hpp"

#include <gtest/gtest.h>

namespace tally::memory {
namespace {

result::MemoryLevel level(const char* name, double ns, std::optional<double> bytes = {}) {
  return {.name = name, .capacity_bytes = bytes, .ns = ns, .cycles = 4 * ns};
}

result::Memory measured(std::vector<result::MemoryLevel> levels) {
  result::Memory result;
  result.levels = std::move(levels);
  for (const auto& [mebibytes, ns] : {std::pair{1, 3.5}, {4, 12.0}, {8, 12.5}, {16, 95.0}, {32, 99.0}, {64, 101.0}}) {
    result::MemoryPoint point;
    point.task = "curve";
    point.region_bytes = static_cast<std::uint64_t>(mebibytes) << 20;
    point.ns = ns;
    point.cycles = 4 * ns;
    result.points.push_back(point);
  }
  return result;
}

TEST(Latencies, are_those_of_the_measured_levels) {
  const machines::MeasuredMemory found =
      latencies_of(measured({level("L1d", 1), level("L2", 3.5), level("LLC", 12, 9e6), level("memory", 100)}));
  EXPECT_EQ(found, (machines::MeasuredMemory{.l2 = 14, .llc = 48, .memory = 400, .llc_bytes = 9'000'000}));
}

TEST(Latencies, of_memory_limit_the_size_of_a_last_level_without_an_end) {
  EXPECT_EQ(latencies_of(measured({level("LLC", 12), level("memory", 100)})).llc_bytes, 16U << 20);
  EXPECT_EQ(latencies_of(measured({level("LLC", 12)})).llc_bytes, 0U) << "without memory nothing is known";
}

TEST(Latencies, of_contended_levels_are_left_out) {
  result::Memory busy = measured({level("L2", 3.5), level("LLC", 12, 9e6), level("memory", 100)});
  busy.levels[1].contended = true;
  EXPECT_EQ(latencies_of(busy), (machines::MeasuredMemory{.l2 = 14, .memory = 400}))
      << "nor the size of the last level";
  busy.levels[2].contended = true;
  EXPECT_EQ(latencies_of(busy), (machines::MeasuredMemory{.l2 = 14}));
  EXPECT_EQ(contended_levels(busy), "LLC, memory");
}

TEST(Latencies, are_missing_if_the_machine_was_too_busy) {
  const auto found = latencies_of(measured({level("L2", 3.5), {.name = "LLC", .contended = true}, {.name = "memory"}}));
  EXPECT_EQ(found, (machines::MeasuredMemory{.l2 = 14}));
}

}  // namespace
}  // namespace tally::memory
