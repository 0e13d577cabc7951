// Tests that rings are single cycles, and that every single cycle is equally likely.
#include <gtest/gtest.h>

#include <set>

#include <algorithm>
#include <array>
#include <map>

#include "programs/memory/analysis/permutation.hpp"

namespace tally::memory {
namespace {

TEST(B3, small_rings_are_exact) {
  Random random(1);
  EXPECT_EQ(successors(random_ring(1, random)), (std::vector<std::uint32_t>{0}));
  EXPECT_EQ(successors(random_ring(2, random)), (std::vector<std::uint32_t>{1, 0}));
  const auto three = successors(random_ring(3, random));
  EXPECT_TRUE((three == std::vector<std::uint32_t>{1, 2, 0}) || (three == std::vector<std::uint32_t>{2, 0, 1}));
}

TEST(Ring, every_order_is_one_cycle_from_block_0) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    const std::uint64_t n = random.uniform(1, 3000);
    const std::uint64_t group = random.uniform(1, 100);
    for (const Order& order :
         {random_ring(n, random), page_local_ring(n, group, random), forward_ring(n), backward_ring(n)}) {
      ASSERT_EQ(order.size(), n);
      EXPECT_EQ(order[0], 0u);
      EXPECT_TRUE(check_ring(successors(order))) << "n " << n << " seed " << seed;
    }
  }
}

TEST(Ring, of_scattered_blocks_visits_each_once) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    const std::uint64_t pool = random.uniform(1, 3000);
    const std::uint64_t n = random.uniform(1, pool);
    const Order order = scattered_ring(n, pool, random);
    ASSERT_EQ(order.size(), n);
    EXPECT_EQ(order[0], 0u);
    EXPECT_EQ(std::set(order.begin(), order.end()).size(), n);
    EXPECT_LT(*std::max_element(order.begin(), order.end()), pool);
  }
}

// From 5 blocks, block 0 and an ordered pair of others can be chosen in 12 ways: χ² with 11 degrees of freedom, 99.9 %
// quantile 31.3.
TEST(Ring, every_scattered_cycle_is_equally_likely) {
  std::map<Order, int> seen;
  Random random(7);
  for (int i = 0; i < 12 * 1000; ++i) ++seen[scattered_ring(3, 5, random)];
  ASSERT_EQ(seen.size(), 12u);
  double chi_squared = 0;
  for (const auto& [order, times] : seen) chi_squared += (times - 1000.0) * (times - 1000.0) / 1000;
  EXPECT_LT(chi_squared, 31.3);
}

// 5 blocks have 24 cycles; 24 000 draws give a χ² with 23 degrees of freedom, 99.9 % quantile 49.7.
TEST(Ring, every_cycle_is_equally_likely) {
  constexpr int draws = 24 * 1000;
  std::map<std::vector<std::uint32_t>, int> seen;
  Random random(7);
  for (int i = 0; i < draws; ++i) ++seen[random_ring(5, random)];
  ASSERT_EQ(seen.size(), 24u);
  double chi_squared = 0;
  for (const auto& [order, times] : seen) chi_squared += (times - 1000.0) * (times - 1000.0) / 1000;
  EXPECT_LT(chi_squared, 49.7);
}

// LENS drew again when a block was already used: 130 million draws for this ring.
TEST(B3, eight_million_blocks_need_as_many_draws) {
  Random random(3);
  const std::uint64_t n = 1 << 23;
  const Order order = random_ring(n, random);
  EXPECT_LT(random.draws(), n * 11 / 10);
  EXPECT_TRUE(check_ring(successors(order)));
}

TEST(Ring, a_seed_repeats_it) {
  Random first(11);
  Random same(11);
  Random other(12);
  const Order order = random_ring(100, first);
  EXPECT_EQ(order, random_ring(100, same));
  EXPECT_NE(order, random_ring(100, other));
}

TEST(Ring, page_local_finishes_a_group_before_the_next) {
  Random random(5);
  const Order order = page_local_ring(640, 64, random);
  for (std::size_t group = 0; group < 10; ++group) {
    const auto begin = order.begin() + static_cast<std::ptrdiff_t>(64 * group);
    const std::uint32_t page = *begin / 64;
    EXPECT_TRUE(std::all_of(begin, begin + 64, [&](std::uint32_t block) { return block / 64 == page; }));
    EXPECT_FALSE(std::is_sorted(begin, begin + 64)) << "the lines of a page are in random order";
  }
}

// A generator that never marks index 0 as used draws it again midway, and the chase walks a part of the region forever.
// B14: adjacent regions were read in the order of memory, so prefetchers had fetched the next one already.
TEST(B14, regions_are_visited_in_random_order) {
  Random random(1);
  std::set<std::uint32_t> firsts;
  for (int draw = 0; draw < 20; ++draw) {
    const Order visits = random_visits(1000, random);
    EXPECT_EQ(std::set<std::uint32_t>(visits.begin(), visits.end()).size(), 1000u) << "each once";
    int neighbours = 0;
    for (std::size_t i = 1; i < visits.size(); ++i) neighbours += visits[i] == visits[i - 1] + 1 ? 1 : 0;
    EXPECT_LT(neighbours, 10) << "one is what chance gives";
    firsts.insert(visits.front());
  }
  EXPECT_GT(firsts.size(), 10u);
  EXPECT_EQ(random_visits(1, random), Order{0});
}

TEST(B15, a_broken_generator_is_detected) {
  Random random(1);
  int caught = 0;
  for (int i = 0; i < 100; ++i) {
    std::vector<std::uint32_t> next(64);
    std::vector<bool> used(64);  // used[0] is never set
    std::uint32_t at = 0;
    for (int step = 0; step < 64; ++step) {
      std::uint32_t drawn = static_cast<std::uint32_t>(random.uniform(0, 63));
      while (used[drawn]) drawn = static_cast<std::uint32_t>(random.uniform(0, 63));
      if (drawn != 0) used[drawn] = true;
      next[at] = drawn;
      at = drawn;
    }
    if (!check_ring(next)) ++caught;
  }
  EXPECT_GE(caught, 95) << "it is right only where 0 happens to come last";
  const std::vector<std::vector<std::uint32_t>> broken{{}, {1, 0, 2}, {1, 2, 1}, {1, 2, 9}, {0, 1}};
  for (const auto& next : broken) {
    const auto checked = check_ring(next);
    ASSERT_FALSE(checked);
    EXPECT_NE(checked.error().message.find("not a single cycle"), std::string::npos);
  }
}

TEST(Random, includes_both_ends_of_a_range) {
  Random random(1);
  std::array<int, 7> seen{};
  for (int i = 0; i < 7000; ++i) ++seen.at(random.uniform(10, 16) - 10);
  for (const int times : seen) EXPECT_NEAR(times, 1000, 150);
}

TEST(Orders, have_names_that_parse) {
  for (const OrderKind kind : order_kinds()) EXPECT_EQ(order_of(name(kind)), kind) << name(kind);
  EXPECT_EQ(order_kinds().size(), 7u);
  EXPECT_FALSE(order_of("lru"));
}

TEST(Orders, back_and_forth_reverses_the_order) {
  Random random(3);
  const auto chain = word_chain(OrderKind::back_and_forth, 9, 128, random);
  ASSERT_EQ(chain.size(), 18u);
  EXPECT_EQ(chain.front(), 0u);
  for (std::size_t k = 0; k < 9; ++k) {
    EXPECT_EQ(chain[k] % 128, 0u);
    EXPECT_EQ(chain[17 - k], chain[k] + 8) << "the second word of the same block";
  }
  std::set<std::uint64_t> blocks(chain.begin(), chain.begin() + 9);
  EXPECT_EQ(blocks.size(), 9u);
  EXPECT_EQ(word_chain(OrderKind::back_and_forth, 1, 64, random), (std::vector<std::uint64_t>{0, 8}));
}

TEST(Orders, interleaved_is_eight_different_laps) {
  Random random(3);
  constexpr std::uint64_t n = 64;
  const auto chain = word_chain(OrderKind::interleaved, n, 64, random);
  ASSERT_EQ(chain.size(), 8 * n);
  std::set<std::vector<std::uint64_t>> laps;
  for (std::uint64_t word = 0; word < 8; ++word) {
    std::vector<std::uint64_t> lap;
    for (std::uint64_t k = 0; k < n; ++k) {
      EXPECT_EQ(chain[word * n + k] % 64, word * 8);
      lap.push_back(chain[word * n + k] / 64);
    }
    EXPECT_EQ(std::set<std::uint64_t>(lap.begin(), lap.end()).size(), n) << "each block once";
    laps.insert(lap);
  }
  EXPECT_EQ(laps.size(), 8u);
}

}  // namespace
}  // namespace tally::memory
