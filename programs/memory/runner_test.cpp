// Tests of planted chains and walks on the machine that runs the tests; no timing is asserted.
#include "programs/memory/runner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <set>
#include <string>

#include "programs/memory/reported.hpp"
#include "programs/memory/room.hpp"
#include "programs/memory/tasks/flush_first.hpp"
#include "tally/linux/machine/pages.hpp"

namespace tally::memory {
namespace {

// Each step of a chase reaches the next block of the order: n blocks, each once, then the first again.
TEST(Plant, a_walk_touches_each_block_once) {
  Random random(1);
  for (const std::uint64_t stride : {64, 128, 4096 + 64}) {
    const Order order = random_ring(100, random);
    std::vector<std::byte> memory(100 * stride);
    plant(memory.data(), order, stride);
    EXPECT_TRUE(is_planted(memory.data(), order, stride));
    std::set<std::uint64_t> seen;
    std::uint64_t offset = 0;
    for (int step = 0; step < 100; ++step) {
      EXPECT_TRUE(seen.insert(offset).second);
      offset = chase(memory.data(), offset, 1).offset;
    }
    EXPECT_EQ(offset, 0u);
    EXPECT_EQ(chase(memory.data(), 0, 100).offset, 0u);
    EXPECT_EQ(chase(memory.data(), 0, 42).offset, order[42] * stride);
    memory[order[7] * stride] ^= std::byte{64};
    EXPECT_FALSE(is_planted(memory.data(), order, stride));
  }
}

// The hardware follows the planned chain, from word to word and back to the first.
TEST(Plant, a_walk_over_words_follows_the_chain) {
  Random random(1);
  for (const OrderKind kind : {OrderKind::back_and_forth, OrderKind::interleaved}) {
    const auto chain = word_chain(kind, 50, 192, random);
    std::vector<std::byte> memory(std::size_t{50} * 192);
    plant_chain(memory.data(), chain);
    for (const std::size_t steps : {std::size_t{1}, std::size_t{50}, chain.size() - 1}) {
      EXPECT_EQ(chase(memory.data(), 0, steps).offset, chain[steps]);
    }
    EXPECT_EQ(chase(memory.data(), 0, chain.size()).offset, 0u);
  }
}

std::int64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t size = 0;
  std::int64_t pages = 0;
  statm >> size >> pages;
  return pages * static_cast<std::int64_t>(linux::page_bytes());
}

// How much more memory is resident after `times` visits of `bytes`.
std::int64_t growth_by_visits(Runner& runner, std::int64_t bytes, int times) {
  const std::int64_t before = resident_bytes();
  for (int i = 0; i < times; ++i) EXPECT_TRUE(runner.visit({.blocks = static_cast<std::uint64_t>(bytes) / 64}));
  return resident_bytes() - before;
}

// The kernel reuses freed frames at once, so successive mappings must not be freed in between. The retained mappings
// are resident together, up to a limit.
TEST(Visit, does_not_reuse_the_frames_of_recent_visits) {
  Plan plan;
  plan.batches = 1;
  auto runner = Runner::start(plan);
  ASSERT_TRUE(runner) << runner.error().message;
  constexpr std::int64_t bytes = 2 << 20;
  (void)growth_by_visits(*runner, bytes, 1);
  EXPECT_GE(growth_by_visits(*runner, bytes, 8), 7 * bytes);
  EXPECT_LE(growth_by_visits(*runner, bytes, 80), 62 * bytes);
}

// Data in the first level is not loaded from memory, whatever others do to the shared level; without the request the
// share is unknown.
TEST(Visit, reports_the_share_of_loads_from_memory) {
  auto runner = Runner::start({});
  ASSERT_TRUE(runner) << runner.error().message;
  EXPECT_FALSE(runner->visit({.blocks = 64})->from_memory);
  const auto limit = runner->memory_load_ns();
  if (!limit) GTEST_SKIP() << "no program can empty the caches of this processor";
  EXPECT_GT(*limit, 0);
  const auto small = runner->visit({.blocks = 64, .count_from_memory = true})->from_memory;
  ASSERT_TRUE(small);
  // An interrupt, or another virtual machine, may delay single loads.
  EXPECT_LT(*small, 0.4);
  const auto caches = reported_caches(runner->processor());
  if (caches.empty() || caches.back().bytes > 64 << 20) GTEST_SKIP() << "a last level of unknown or unusual size";
  const auto large = runner->visit({.blocks = (256 << 20) / 64, .count_from_memory = true})->from_memory;
  ASSERT_TRUE(large);
  EXPECT_GT(*large, 0.5);
}

// 1,000 adjacent lines end at 64,000; of lines that are spread over 16 M, one of 260 is below that.
TEST(Visit, of_scattered_lines_covers_the_pool) {
  auto runner = Runner::start({});
  ASSERT_TRUE(runner) << runner.error().message;
  const Lap lap{.blocks = 1000, .pool_blocks = (16 << 20) / 64};
  EXPECT_EQ(lap.span_bytes(), 16u << 20);
  const auto visit = runner->visit(lap);
  ASSERT_TRUE(visit) << visit.error().message;
  EXPECT_FALSE(visit->ns.empty());
  EXPECT_GE(visit->offset, 64'000u) << "the position of the walk";
  EXPECT_LT(visit->offset, 16u << 20);
  EXPECT_FALSE(runner->visit({.blocks = 1000, .pool_blocks = most_blocks + 1}));
}

TEST(Visit, of_a_file_retains_no_mapping) {
  constexpr std::int64_t bytes = 2 << 20;
  Plan plan;
  plan.batches = 1;
  plan.file = ::testing::TempDir() + "visit_of_a_file";
  std::ofstream(plan.file) << std::string(bytes, '\0');
  auto runner = Runner::start(plan);
  ASSERT_TRUE(runner) << runner.error().message;
  EXPECT_TRUE(runner->visit({.blocks = bytes / 64, .count_from_memory = true})) << "two rings at once";
  (void)growth_by_visits(*runner, bytes, 1);
  EXPECT_LT(growth_by_visits(*runner, bytes, 8), 2 * bytes);
  std::remove(plan.file.c_str());
}

// A page fault represents any disturbance of a batch; others may come in addition.
TEST(Settle, runs_before_the_batch_after_a_disturbed_one) {
  auto runner = Runner::start({});
  ASSERT_TRUE(runner) << runner.error().message;
  constexpr std::size_t far = 4 << 20;  // farther apart than a huge page
  constexpr int most_batches = 30;
  const auto untouched = std::make_unique_for_overwrite<std::byte[]>((most_batches + 1) * far);
  std::string events;
  const auto body = [&] {
    const std::size_t number = static_cast<std::size_t>(std::count(events.begin(), events.end(), 'b')) +
                               static_cast<std::size_t>(std::count(events.begin(), events.end(), 'f'));
    const bool faults = number % 4 == 1;
    if (faults) untouched[number * far] = std::byte{1};
    events += faults ? 'f' : 'b';
    return nothing();
  };
  Visit visit;
  runner->collect(visit, body, 1, 10, [&] { events += 's'; });
  EXPECT_GE(visit.rejected, 3) << events;
  ASSERT_NE(events.find('f'), std::string::npos);
  EXPECT_EQ(events.find("fb"), std::string::npos) << events;
  EXPECT_NE(events.find("fsb"), std::string::npos) << events;
}

TEST(Kernels, stamps_ascend_and_flush_preserves_memory) {
  const Timed empty = nothing();
  const Timed sum = adds(1 << 16);
  EXPECT_GT(empty.end.ticks, empty.start.ticks);
  EXPECT_GE(sum.start.ticks, empty.end.ticks);
  std::vector<std::byte> memory(4096, std::byte{7});
  flush(memory.data(), memory.size(), 64);
  EXPECT_EQ(memory, std::vector<std::byte>(4096, std::byte{7}));
}

TEST(B12, requests_only_available_memory) {
  const auto runner = Runner::start({});
  ASSERT_TRUE(runner) << runner.error().message;
  const auto area = runner->fresh(std::uint64_t{1} << 50);
  ASSERT_FALSE(area);
  EXPECT_TRUE(area.error().message.starts_with("1024 TiB of memory is needed at once, but only "))
      << area.error().message;
}

// B8: the memory that empties a level was at a multiple of the access size after the region, and regions grew into it.
TEST(B8, memory_that_empties_a_level_is_separate) {
  auto runner = Runner::start({});
  ASSERT_TRUE(runner) << runner.error().message;
  for (const std::uint64_t region : {64, 4096, 65536, 1 << 20}) {
    for (const std::uint64_t scratch : {4096, 128 << 10, 4 << 20}) {
      auto ground = make_ground(*runner, region, scratch);
      ASSERT_TRUE(ground) << ground.error().message;
      const auto first = reinterpret_cast<std::uintptr_t>(ground->region.data());
      const auto other = reinterpret_cast<std::uintptr_t>(ground->scratch.data());
      EXPECT_TRUE(first + region <= other || other + scratch <= first) << region << " " << scratch;
      (void)time_once(runner->plan(), *ground, TimedPart::load);
      Order order = ground->order;
      order.pop_back();
      EXPECT_TRUE(is_planted(ground->region.data(), order, 64)) << region << " " << scratch;
    }
  }
}

TEST(Area, has_the_requested_pages) {
  const auto small = linux::Area::map(4 << 20, linux::PageKind::small);
  ASSERT_TRUE(small) << small.error().message;
  EXPECT_EQ(small->got(), std::to_string(linux::page_bytes() / 1024) + "k");
  const auto one = linux::Area::map(std::size_t{1} << 60, linux::PageKind::small);
  ASSERT_FALSE(one);
  EXPECT_NE(one.error().message.find("cannot map"), std::string::npos);
  EXPECT_NE(one.error().hint, "");
}

TEST(Reported, caches_of_a_described_machine) {
  EXPECT_TRUE(reported_caches(0, "/nowhere").empty());
  const auto caches = reported_caches(0);
  for (std::size_t i = 1; i < caches.size(); ++i) EXPECT_GT(caches[i].level, caches[i - 1].level);
}

TEST(Room, includes_retained_mappings) {
  // Other programs may free memory in between.
  bool refused = false;
  for (int i = 0; i < 10 && !refused; ++i) {
    const std::uint64_t left = linux::available_bytes().value_or(0);
    ASSERT_GT(left, 0u);
    // Without the retained mappings it would fit, with its order, by half of their size.
    const std::uint64_t region = (left - most_aside_bytes(left) / 2) / (64 + 9) * 64;
    refused = !fits(region, "--to");
    EXPECT_TRUE(fits(region / 2, "--to"));
  }
  EXPECT_TRUE(refused);
}

}  // namespace
}  // namespace tally::memory
