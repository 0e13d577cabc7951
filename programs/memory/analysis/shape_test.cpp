// Tests of the miss models against caches that are simulated access by access.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "programs/memory/analysis/shape.hpp"
#include "programs/memory/analysis/simulated_testing.hpp"

namespace tally::memory {
namespace {

TEST(Shape, lap_through_lru_misses_all_or_nothing) {
  Random random(1);
  LruBuffer buffer(512);
  EXPECT_EQ(lap_misses(buffer, random_ring(512, random)), 0);
  LruBuffer larger(512);
  EXPECT_EQ(lap_misses(larger, random_ring(538, random)), 1);
}

TEST(Shape, lap_through_random_replacement_matches_the_model) {
  const struct {
    double x, misses;
  } expected[] = {{1.05, .092}, {1.1, .175}, {1.2, .316}, {1.3, .421}, {1.4, .511}, {1.5, .585}, {2, .800}, {3, .941}};
  for (const auto& one : expected) {
    EXPECT_NEAR(misses_random(one.x), one.misses, .02) << one.x;
    Random random(1);
    double sum = 0;
    for (int i = 0; i < 20; ++i) {
      RandomBuffer buffer(512, random);
      sum += lap_misses(buffer, random_ring(static_cast<std::uint64_t>(one.x * 512), random), 10, 30);
    }
    EXPECT_NEAR(sum / 20, misses_random(one.x), .02) << one.x;
  }
  EXPECT_EQ(misses_random(1), 0);
  EXPECT_EQ(misses_random(0.5), 0);
}

// 2048 sets × 16 ways × 64 B is 2 MiB: 32 page colours.
TEST(Shape, lap_through_page_colours_matches_the_model) {
  const struct {
    double x, misses;
  } expected[] = {{.5, .010}, {.625, .044},  {.75, .160},  {.875, .315},
                  {1, .536},  {1.125, .713}, {1.25, .844}, {1.5, .970}};
  for (const auto& one : expected) {
    EXPECT_NEAR(misses_colours(one.x * 512, 32, 16), one.misses, .02) << one.x;
    Random random(1);
    double sum = 0;
    constexpr int draws = 200;
    for (int i = 0; i < draws; ++i) sum += colour_misses(static_cast<int>(one.x * 512), 32, 16, random);
    EXPECT_NEAR(sum / draws, one.misses, .02) << one.x;
  }
  EXPECT_EQ(misses_colours(10, 1, 16), 0) << "one colour: contiguous to the cache";
  EXPECT_EQ(misses_colours(18, 1, 16), 1);
}

// The model of a set against its simulated loads: it neglects correlations between misses.
TEST(Shape, lap_through_page_colours_with_random_replacement_matches) {
  Random random(1);
  std::vector<double> of_set;
  for (std::size_t lines = 0; lines < 96; ++lines) of_set.push_back(set_misses(Victim::any, 16, lines, random));
  for (const double x : {.5, .75, .875, 1., 1.125, 1.25, 1.5, 2., 3., 8.}) {
    double sum = 0;
    constexpr int draws = 200;
    for (int i = 0; i < draws; ++i) sum += colour_misses_of(of_set, static_cast<int>(x * 512), 32, random);
    EXPECT_NEAR(misses_colours_random(x * 512, 32, 16), sum / draws, .03) << x;
  }
  EXPECT_EQ(misses_colours_random(16, 1, 16), 0);
  EXPECT_NEAR(misses_colours_random(32, 1, 16), misses_random(2), .02);
  EXPECT_GT(misses_colours_random(4096, 1, 16), .99) << "more lines than the table has";
}

TEST(Shape, lap_with_prefetchers_matches_the_model) {
  Random random(1);
  constexpr std::size_t entries = 256;
  const auto simulated = [&](Prefetcher prefetcher, double x) {
    const auto blocks = static_cast<std::uint64_t>(std::round(x * entries));
    PrefetchedBuffer buffer(entries, prefetcher, blocks);
    return lap_misses(buffer, random_ring(blocks, random), 4, 8);
  };
  for (const double x : {0.9, 1.05, 1.2, 1.5, 2.0, 3.0, 4.0, 8.0}) {
    EXPECT_NEAR(simulated(Prefetcher::next_line, x), misses_next_line(x), 0.03) << x;
    EXPECT_NEAR(simulated(Prefetcher::pair, x), misses_line_pair(x), 0.06) << x;
  }
}

// One pass through a region of 64-byte blocks, with 64 entries of 256 bytes.
TEST(Shape, cold_single_touch_matches_the_model) {
  const struct {
    double region, hits, hits_random;
  } expected[] = {{16, .750, .750}, {20, .600, .628}, {24, .502, .529}, {32, .379, .394},
                  {48, .249, .263}, {64, .187, .188}, {256, .046, .050}};
  for (const auto& one : expected) {
    const auto blocks = static_cast<std::uint64_t>(one.region * 1024 / 64);
    Random random(1);
    double hits = 0;
    double hits_random = 0;
    constexpr int draws = 200;
    for (int i = 0; i < draws; ++i) {
      LruBuffer lru(64);
      RandomBuffer by_chance(64, random);
      hits += cold_hits(lru, random_ring(blocks, random), 4) / draws;
      hits_random += cold_hits(by_chance, random_ring(blocks, random), 4) / draws;
    }
    EXPECT_NEAR(hits, one.hits, .01) << one.region;
    EXPECT_NEAR(hits_random, one.hits_random, .02) << one.region;
    EXPECT_NEAR(.75 * std::min(1.0, 16 / one.region), hits, .02) << "entries of four blocks, room for 16 K";
  }
}

}  // namespace
}  // namespace tally::memory
