// The detector on curves whose answer is known.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "tally/memory/analysis/dismissal.hpp"
#include "tally/memory/analysis/findings.hpp"
#include "tally/memory/analysis/levels.hpp"
#include "tally/memory/analysis/simulated_testing.hpp"

namespace tally::memory {
namespace {

using Misses = std::function<double(double size_bytes, Random& random)>;

constexpr double kib = 1024;
constexpr double mib = 1024 * kib;
// Eight to an octave, 1.0905, and what rounding to whole lines adds.
constexpr double grid_step = 1.092;

// What a level adds where it is missed.
struct SimulatedLevel {
  Misses misses;
  double ns;
};

// Five mappings of ten batches over the grid of the product; `levels` add to the first level's latency.
Curve curve_of(const std::vector<std::uint64_t>& sizes, double first_ns, const std::vector<SimulatedLevel>& levels,
               double deviation, Random& random) {
  Curve curve;
  for (const std::uint64_t size : sizes) {
    CurvePoint point{static_cast<double>(size), 0, false, {}};
    std::vector<double> medians;
    for (int mapping = 0; mapping < 5; ++mapping) {
      double ns = first_ns;
      for (const SimulatedLevel& level : levels) ns += level.ns * level.misses(point.size_bytes, random);
      std::vector<double> batches;
      for (int batch = 0; batch < 10; ++batch) batches.push_back(ns * noise(random, deviation));
      std::sort(batches.begin(), batches.end());
      medians.push_back((batches[4] + batches[5]) / 2);
      point.mappings.push_back(std::move(batches));
    }
    std::sort(medians.begin(), medians.end());
    point.ns = medians[2];
    curve.push_back(std::move(point));
  }
  return curve;
}

Misses lru(double capacity) {
  return [capacity](double size, Random&) { return size > capacity ? 1.0 : 0.0; };
}

// Access by access, in a buffer of 128 entries: what counts is the ratio of the sizes.
Misses random_replacement(double capacity) {
  return [capacity](double size, Random& random) {
    constexpr std::size_t entries = 128;
    const auto blocks = static_cast<std::uint64_t>(std::max(1.0, std::round(size / capacity * entries)));
    if (blocks > 6 * entries) return 1.0;
    RandomBuffer buffer(entries, random);
    return lap_misses(buffer, random_ring(blocks, random), 8, 20);
  };
}

Misses colours(double capacity, int ways) {
  return [capacity, ways](double size, Random& random) {
    return colour_misses(static_cast<int>(size / 4096), static_cast<int>(capacity / 4096 / ways), ways, random);
  };
}

// Least recently used, with a prefetcher that brings other lines where one is missed.
Misses prefetched(double capacity, Prefetcher prefetcher) {
  return [capacity, prefetcher](double size, Random& random) {
    // Few lines: what counts is the ratio of the sizes.
    constexpr std::size_t entries = 64;
    const auto blocks = static_cast<std::uint64_t>(std::max(1.0, std::ceil(size / capacity * entries)));
    PrefetchedBuffer buffer(entries, prefetcher, blocks);
    return lap_misses(buffer, random_ring(blocks, random), 2, 3);
  };
}

TEST(Plateaus, three_levels_and_memory_with_noise) {
  Random random(1);
  const auto curve = curve_of(size_grid(4096, 256 << 20, 8, 64), 1.2,
                              {{lru(48 * kib), 2.8}, {lru(2 * mib), 32}, {lru(32 * mib), 120}}, 0.02, random);
  const auto plateaus = find_plateaus(curve);
  ASSERT_EQ(plateaus.size(), 4u);
  const double expected[] = {1.2, 4, 36, 156};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(plateaus[i].ns, expected[i], 0.02 * expected[i]);
  const double capacities[] = {48 * kib, 2 * mib, 32 * mib};
  for (std::size_t i = 0; i < 3; ++i) {
    const Capacity capacity = find_capacity(curve, plateaus[i], plateaus[i + 1], 4096);
    EXPECT_LE(capacity.low_bytes, capacities[i]);
    EXPECT_GE(capacity.high_bytes, capacities[i]);
    EXPECT_LE(capacity.high_bytes / capacity.low_bytes, grid_step);
  }
}

TEST(Plateaus, bursts_flag_one_octave_and_change_nothing) {
  Random random(1);
  auto curve =
      curve_of(size_grid(4096, 64 << 20, 8, 64), 1.2, {{lru(48 * kib), 2.8}, {lru(2 * mib), 32}}, 0.01, random);
  for (CurvePoint& point : curve) {
    if (point.size_bytes < 256 * kib || point.size_bytes >= 512 * kib) continue;
    point.ns *= 3;
    point.flagged = true;
  }
  const auto plateaus = find_plateaus(curve);
  ASSERT_EQ(plateaus.size(), 3u);
  EXPECT_NEAR(plateaus[1].ns, 4, 0.1);
  const Capacity capacity = find_capacity(curve, plateaus[0], plateaus[1], 4096);
  EXPECT_NEAR(capacity.bytes, 48 * kib, 0.09 * 48 * kib);
}

// As measured on a virtual machine (AMD EPYC, Zen 4): a last level behind which translations are missed more and more.
Curve sloping_machine() {
  const std::vector<std::pair<double, double>> measured{
      {34, 3.73},    {38, 3.85},    {45, 3.83},    {64, 3.81},    {83, 3.83},    {107, 3.82},   {128, 3.8},
      {152, 3.83},   {181, 3.93},   {215, 3.86},   {256, 3.81},   {279, 3.82},   {304, 4.31},   {332, 4.35},
      {362, 4.37},   {394, 4.63},   {430, 4.57},   {469, 4.97},   {512, 5.49},   {558, 5.48},   {608, 5.9},
      {664, 6.91},   {724, 6.15},   {756, 6.12},   {789, 7.05},   {824, 7.16},   {861, 7.71},   {899, 7.65},
      {939, 8.75},   {980, 13.62},  {1024, 9.25},  {1069, 11.93}, {1116, 10.11}, {1166, 11.68}, {1217, 10.87},
      {1271, 12.98}, {1327, 11.79}, {1386, 13.86}, {1448, 11.83}, {1579, 12.8},  {1722, 12.89}, {1878, 13.33},
      {2048, 13.46}, {2233, 14.35}, {2435, 14.08}, {2655, 15.02}, {2896, 14.1},  {3158, 14.83}, {3444, 17.04},
      {3756, 17.01}, {4096, 16.16}, {4466, 17.04}, {4871, 16.77}, {9742, 144.4}, {10623, 143},  {11585, 150},
      {12633, 152},  {15024, 153},  {17866, 155},  {25267, 160},  {46340, 161}};
  Curve curve;
  for (const auto& [size, ns] : measured) curve.push_back({size * kib, ns, false, {}});
  return curve;
}

TEST(Plateaus, a_level_that_slopes_is_one_between_two_that_do_not) {
  const Curve curve = sloping_machine();
  const auto plateaus = find_plateaus(curve);
  ASSERT_EQ(plateaus.size(), 3u);
  EXPECT_NEAR(plateaus[0].ns, 3.83, 0.02);
  EXPECT_NEAR(plateaus[1].ns, 14, 1);
  EXPECT_LE(curve[plateaus[1].first].size_bytes, 1600 * kib);
  EXPECT_GE(curve[plateaus[1].last].size_bytes, 3158 * kib);
  const Capacity capacity = find_capacity(curve, plateaus[0], plateaus[1], 4096);
  EXPECT_NEAR(capacity.bytes, mib, 0.1 * mib);
}

TEST(Plateaus, a_level_that_slopes_is_one_with_a_size_in_it_that_was_disturbed) {
  Curve curve = sloping_machine();
  for (CurvePoint& point : curve) {
    if (point.size_bytes == 2896 * kib) point.ns *= 1.5;
  }
  const auto plateaus = find_plateaus(curve);
  ASSERT_EQ(plateaus.size(), 3u);
  EXPECT_NEAR(plateaus[1].ns, 14.5, 1.5);
}

TEST(Plateaus, a_slope_and_too_few_points_have_none) {
  Curve slope;
  for (const std::uint64_t size : size_grid(4096, 1 << 20, 8, 64)) {
    slope.push_back({static_cast<double>(size), std::sqrt(static_cast<double>(size)), false, {}});
  }
  EXPECT_TRUE(find_plateaus(slope).empty());
  slope.resize(3);
  EXPECT_TRUE(find_plateaus(slope).empty());
  EXPECT_TRUE(find_plateaus({}).empty());
}

// How often the capacity lies in the interval stated, and how wide that is.
struct Coverage {
  int cases = 0;
  int covered = 0;
  double widest = 0;
};

Coverage coverage_of(const std::function<Misses(double)>& level, double step_share, std::uint64_t seed) {
  Coverage coverage;
  Random random(seed);
  for (int i = 0; i < 100; ++i) {
    const double capacity = std::round(256 * std::exp2(4 * random.unit())) * 4 * kib;
    const auto curve = curve_of(size_grid(64 << 10, static_cast<std::uint64_t>(16 * capacity), 8, 64), 4,
                                {{level(capacity), 32}}, step_share, random);
    const auto plateaus = find_plateaus(curve);
    ++coverage.cases;
    std::vector<bool> ends;
    for (std::size_t k = 0; k + 1 < plateaus.size(); ++k) {
      const bool none = is_slope(plateaus[k].ns, plateaus[k + 1].ns) ||
                        (k > 0 && is_of_prefetchers(curve, plateaus[k - 1], plateaus[k + 1], 4096));
      ends.push_back(!none);
    }
    const auto spans = join_spans(plateaus, ends);
    if (spans.size() != 2) continue;
    const Capacity found = find_capacity(curve, spans[0].last, spans[1].first, 4096);
    if (found.low_bytes <= capacity && capacity <= found.high_bytes) ++coverage.covered;
    coverage.widest = std::max(coverage.widest, found.high_bytes / found.low_bytes - 1);
  }
  return coverage;
}

TEST(Capacity, of_least_recently_used_levels_is_in_its_interval) {
  const Coverage coverage = coverage_of(lru, 0.02, 1);
  EXPECT_GE(coverage.covered, 95);
  EXPECT_LE(coverage.widest, grid_step - 1);
}

TEST(Capacity, of_random_replacement_is_in_its_interval) {
  const Coverage coverage = coverage_of(random_replacement, 0.02, 2);
  EXPECT_GE(coverage.covered, 95);
  EXPECT_LE(coverage.widest, 0.25);
}

TEST(Capacity, of_page_colours_is_in_its_interval) {
  for (const int ways : {8, 16}) {
    const Coverage coverage = coverage_of([&](double capacity) { return colours(capacity, ways); }, 0.02, 3);
    EXPECT_GE(coverage.covered, 95) << ways;
    EXPECT_LE(coverage.widest, 0.25) << ways;
  }
}

TEST(Capacity, beside_prefetchers_is_in_its_interval) {
  for (const Prefetcher prefetcher : {Prefetcher::pair, Prefetcher::next_line, Prefetcher::streamer}) {
    const Coverage coverage = coverage_of([&](double capacity) { return prefetched(capacity, prefetcher); }, 0.02, 4);
    EXPECT_GE(coverage.covered, 95) << static_cast<int>(prefetcher);
    EXPECT_LE(coverage.widest, 0.25) << static_cast<int>(prefetcher);
  }
}

TEST(Rise, half_way_is_interpolated_in_log_size) {
  const Curve curve{
      {1024, 1, false, {}}, {2048, 1, false, {}}, {4096, 1.5, false, {}}, {8192, 2, false, {}}, {16384, 2, false, {}}};
  const Rise rise = find_rise(curve, {0, 1, 1}, {3, 4, 2});
  EXPECT_EQ(rise.knee_bytes, 2048);
  EXPECT_EQ(rise.half_bytes, 4096);
  EXPECT_EQ(rise.below_bytes, 2048);
  EXPECT_EQ(rise.beyond_bytes, 4096);
}

TEST(Grid, eight_to_an_octave_in_whole_lines) {
  const auto sizes = size_grid(4096, 16384, 8, 64);
  EXPECT_EQ(sizes.size(), 17u);
  EXPECT_EQ(sizes.front(), 4096u);
  EXPECT_EQ(sizes[8], 8192u);
  EXPECT_EQ(sizes.back(), 16384u);
  for (const std::uint64_t size : sizes) EXPECT_EQ(size % 64, 0u);
  EXPECT_EQ(size_grid(64, 64, 8, 64), (std::vector<std::uint64_t>{64}));
}

TEST(Grid, gaps_at_a_rise_are_halved_until_they_are_small) {
  const Curve curve{{4096, 1, false, {}}, {8192, 1, false, {}}, {16384, 2, false, {}}};
  EXPECT_EQ(sizes_between(curve, 8000, 17000, 1.1, 64), (std::vector<std::uint64_t>{5824, 11584}));
  EXPECT_TRUE(sizes_between(curve, 8000, 17000, 2.1, 64).empty());
}

}  // namespace
}  // namespace tally::memory
