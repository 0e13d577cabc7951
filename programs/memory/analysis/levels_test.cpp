// Tests of the level detector on curves with a known answer.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "programs/memory/analysis/dismissal.hpp"
#include "programs/memory/analysis/findings.hpp"
#include "programs/memory/analysis/levels.hpp"
#include "programs/memory/analysis/simulated_testing.hpp"
#include "programs/memory/analysis/sizes_testing.hpp"
#include "programs/memory/analysis/slopes.hpp"
#include "tally/core/base/full_run_testing.hpp"

namespace tally::memory {
namespace {

using Misses = std::function<double(double size_bytes, Random& random)>;

// 8 per octave (1.0905), plus rounding to whole lines.
constexpr double grid_step = 1.092;

// What a miss in a level adds.
struct SimulatedLevel {
  Misses misses;
  double ns;
};

// Five mappings of ten batches over the product's grid; `levels` add to the latency of the first level.
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

// Simulates every access to a buffer of 128 entries; only the ratio of the sizes matters.
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

// Sets without LRU replacement.
Misses colours_by(Victim victim, double capacity, int ways) {
  Random random(1);
  std::vector<double> of_set;
  for (std::size_t lines = 0; lines < 6 * static_cast<std::size_t>(ways); ++lines) {
    of_set.push_back(set_misses(victim, static_cast<std::size_t>(ways), lines, random));
  }
  return [of_set, capacity, ways](double size, Random& drawn) {
    const auto pages = static_cast<int>(size / 4096);
    return colour_misses_of(of_set, pages, static_cast<int>(capacity / 4096 / ways), drawn);
  };
}

// LRU, with a prefetcher that fetches other lines on a miss.
Misses prefetched(double capacity, Prefetcher prefetcher) {
  return [capacity, prefetcher](double size, Random& random) {
    // Few lines suffice: only the ratio of the sizes matters.
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

TEST(Plateaus, a_disturbed_octave_changes_nothing) {
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

// Measured on a virtual machine (AMD EPYC, Zen 4): after the last level more and more translations miss.
Curve measured_slope() {
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

TEST(Plateaus, a_sloping_level_between_flat_ones_is_found) {
  const Curve curve = measured_slope();
  const auto plateaus = find_plateaus(curve);
  ASSERT_EQ(plateaus.size(), 3u);
  EXPECT_NEAR(plateaus[0].ns, 3.83, 0.02);
  EXPECT_NEAR(plateaus[1].ns, 14, 1);
  EXPECT_LE(curve[plateaus[1].first].size_bytes, 1600 * kib);
  EXPECT_GE(curve[plateaus[1].last].size_bytes, 3158 * kib);
}

// Measured there with frames that differ between mappings: lines, and ns per load. Its second level has 1 M; the buffer
// holds 72 translations.
TEST(Capacity, of_a_measured_level_between_slopes_is_within_a_step) {
  const std::vector<std::pair<double, double>> measured{
      {664, 3.799},    {678, 3.804},    {693, 3.8},      {724, 3.795},    {790, 3.803},    {861, 3.822},
      {939, 3.798},    {1024, 3.83},    {1117, 3.799},   {1218, 3.824},   {1328, 3.8},     {1448, 3.797},
      {1579, 3.812},   {1722, 3.802},   {1878, 3.803},   {2048, 3.821},   {2233, 3.807},   {2435, 3.818},
      {2656, 3.811},   {2896, 3.814},   {3158, 3.806},   {3444, 3.807},   {3756, 3.807},   {4096, 3.814},
      {4467, 3.825},   {4871, 3.967},   {5312, 4.097},   {5793, 4.303},   {6317, 4.444},   {6889, 4.568},
      {7512, 4.965},   {8192, 5.108},   {8933, 5.321},   {9742, 5.039},   {10624, 5.646},  {11094, 6.384},
      {11585, 6.622},  {12098, 7.019},  {12634, 7.115},  {13193, 7.397},  {13777, 7.577},  {14079, 7.157},
      {14387, 7.769},  {14702, 7.815},  {15024, 8.067},  {15353, 7.929},  {15689, 9.046},  {16033, 8.685},
      {16384, 9.37},   {16743, 9.171},  {17109, 9.012},  {17484, 9.062},  {17867, 10.11},  {18258, 9.644},
      {18658, 10.13},  {19067, 10.31},  {19484, 10.91},  {19910, 10.68},  {20346, 10.88},  {20792, 10.4},
      {21247, 11.23},  {22188, 11.05},  {23170, 11.89},  {25268, 12.28},  {27554, 12.61},  {30048, 12.96},
      {32768, 12.94},  {35734, 13.4},   {38968, 13.61},  {42495, 13.93},  {46341, 14.26},  {50535, 14.3},
      {55109, 15.3},   {60097, 14.96},  {65536, 15.21},  {71468, 16.05},  {77936, 15.51},  {84990, 15.7},
      {92682, 16.86},  {101070, 20.9},  {110218, 19.33}, {120194, 17.57}, {169979, 123},   {202141, 134.3},
      {220436, 143.9}, {240387, 146.5}, {262144, 147},   {285870, 134.1}, {311744, 143.5}, {339959, 142.2},
      {370728, 145.4}, {404281, 148},   {440872, 141.3}, {480774, 147.9}, {524288, 151.5}, {571740, 153},
      {623487, 147.1}, {679917, 155.2}, {741455, 159.1}};
  Curve curve;
  for (const auto& [lines, ns] : measured) curve.push_back({lines * 64, ns, false, {}});
  const auto plateaus = find_plateaus(curve);
  ASSERT_EQ(plateaus.size(), 3u);
  // The cost of a missed translation was measured in the same run.
  for (const double miss_ns : {0.0, 1.9}) {
    const Capacity capacity = find_capacity(curve, plateaus[0], plateaus[1], 4096, {72 * 4096, miss_ns});
    EXPECT_NEAR(capacity.bytes, mib, (grid_step - 1) * mib);
    EXPECT_LE(capacity.low_bytes, mib);
    EXPECT_GE(capacity.high_bytes, mib);
  }
}

TEST(Plateaus, a_sloping_level_may_have_a_disturbed_size) {
  Curve curve = measured_slope();
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

// How often the capacity is inside its interval, and how wide the interval is.
struct Coverage {
  int cases = 0;
  int covered = 0;
  double widest = 0;
  int narrow = 0;             // intervals that are no wider than a quarter
  std::vector<double> found;  // relative to the true capacity

  double share(int of_cases) const { return static_cast<double>(of_cases) / cases; }
};

// A level takes up to a tenth of a second, so a default run tries few of them.
int most_cases() { return test::in_full_run(100, 20); }

// `curve_with` gets capacities from 1 to 16 MiB.
Coverage coverage_of_curves(const std::function<Curve(double capacity, Random& random)>& curve_with, double reach_share,
                            double translation_ns, std::uint64_t seed, int cases) {
  Coverage coverage;
  Random random(seed);
  for (int i = 0; i < cases; ++i) {
    const double capacity = std::round(256 * std::exp2(4 * random.unit())) * 4 * kib;
    const auto curve = curve_with(capacity, random);
    const auto plateaus = find_plateaus(curve);
    ++coverage.cases;
    std::vector<bool> ends;
    for (std::size_t k = 0; k + 1 < plateaus.size(); ++k) {
      const bool none = is_slope(plateaus[k].ns, plateaus[k + 1].ns) ||
                        (k > 0 && is_of_prefetchers(curve, plateaus[k - 1], plateaus[k], plateaus[k + 1], 4096));
      ends.push_back(!none);
    }
    const auto spans = join_spans(plateaus, ends);
    if (spans.size() != 2) continue;
    const Capacity found =
        find_capacity(curve, spans[0].last, spans[1].first, 4096, {reach_share * capacity, translation_ns});
    if (found.low_bytes <= capacity && capacity <= found.high_bytes) ++coverage.covered;
    coverage.found.push_back(found.bytes / capacity);
    const double width = found.high_bytes / found.low_bytes - 1;
    coverage.widest = std::max(coverage.widest, width);
    if (width <= 0.25) ++coverage.narrow;
  }
  return coverage;
}

Coverage coverage_of(const std::function<Misses(double)>& level, double step_share, std::uint64_t seed,
                     int cases = most_cases()) {
  const auto curve_with = [&](double capacity, Random& random) {
    return curve_of(size_grid(64 << 10, static_cast<std::uint64_t>(16 * capacity), 8, 64), 4, {{level(capacity), 32}},
                    step_share, random);
  };
  return coverage_of_curves(curve_with, 0, 0, seed, cases);
}

// A level of page colours between slopes, as in SlopingRise: a translation buffer that reaches a quarter of it, and a
// level after it whose lines other cores evict, so that it costs half as much again at twice the capacity.
Curve sloping_curve(double capacity, const Misses& misses, double deviation, Random& random) {
  const double first_ns = 3.8;
  const double miss_ns = 6;
  const double drain = 0.25 / (capacity * 9);
  Curve curve;
  for (const std::uint64_t size : size_grid(64 << 10, static_cast<std::uint64_t>(4 * capacity), 8, 64)) {
    CurvePoint point{static_cast<double>(size), 0, false, {}};
    std::vector<double> medians;
    for (int mapping = 0; mapping < 5; ++mapping) {
      const double missed = misses(point.size_bytes, random);
      const double translated = std::min(1.0, 0.25 * capacity / point.size_bytes);
      const double ns = (first_ns + 2 * (1 - translated) + missed * miss_ns) / (1 - missed * drain * point.size_bytes);
      std::vector<double> batches;
      for (int batch = 0; batch < 10; ++batch) batches.push_back(ns * noise(random, deviation));
      medians.push_back(batches[0]);
      point.mappings.push_back(std::move(batches));
    }
    std::sort(medians.begin(), medians.end());
    point.ns = medians[2];
    curve.push_back(std::move(point));
  }
  return curve;
}

TEST(Capacity, of_page_colours_between_slopes_is_in_its_interval) {
  struct Case {
    int ways;
    double translation_ns;  // the known value; 0: unknown
  };
  for (const auto& [ways, translation_ns] : {Case{8, 2}, Case{16, 0}}) {
    const auto curve_with = [ways = ways](double capacity, Random& random) {
      return sloping_curve(capacity, colours(capacity, ways), 0.02, random);
    };
    const Coverage coverage = coverage_of_curves(curve_with, 0.25, translation_ns, 5, most_cases());
    EXPECT_GE(coverage.share(coverage.covered), 0.95) << ways;
    // With scattered timings, other replacement policies may fit a little better; then the interval is wider.
    EXPECT_GE(coverage.share(coverage.narrow), 0.85) << ways;
    EXPECT_LE(coverage.widest, 0.55) << ways;
  }
}

// One curve does not show the replacement policy: these levels seem up to a quarter larger or a tenth smaller than they
// are; with an LRU model only, up to two fifths.
TEST(Capacity, of_page_colours_with_other_replacement_is_near) {
  const int cases = test::in_full_run(25, 5);
  for (const Victim victim : {Victim::any, Victim::not_recent}) {
    for (const int ways : {8, 16}) {
      const Coverage coverage =
          coverage_of([&](double capacity) { return colours_by(victim, capacity, ways); }, 0.02, 7, cases);
      ASSERT_EQ(coverage.found.size(), static_cast<std::size_t>(cases));
      const auto [least, most] = std::minmax_element(coverage.found.begin(), coverage.found.end());
      EXPECT_GE(*least, 0.9) << static_cast<int>(victim) << ", " << ways;
      EXPECT_LE(*most, 1.25) << static_cast<int>(victim) << ", " << ways;
    }
  }
}

// Misses of rings whose lines are spread over a pool, set by set; its frames are contiguous or have random colours.
Misses scattered(const std::vector<double>& of_set, double capacity, int ways, double pool_bytes, bool contiguous) {
  return [=](double size, Random& random) {
    const auto lines_of = [](double bytes) { return static_cast<std::size_t>(bytes / 64); };
    constexpr std::size_t lines_of_page = 64;
    const std::size_t sets = lines_of(capacity) / static_cast<std::size_t>(ways);
    const std::size_t colours = sets / lines_of_page;
    std::vector<std::size_t> first_sets(lines_of(pool_bytes) / lines_of_page + 1);
    for (std::size_t page = 0; page < first_sets.size(); ++page) {
      first_sets[page] = (contiguous ? page % colours : random.uniform(0, colours - 1)) * lines_of_page;
    }
    std::vector<std::size_t> lines(sets);
    for (const std::uint32_t line : scattered_ring(lines_of(size), lines_of(pool_bytes), random)) {
      ++lines[first_sets[line / lines_of_page] + line % lines_of_page];
    }
    double missed = 0;
    for (const std::size_t some : lines)
      missed += static_cast<double>(some) * of_set[std::min(some, of_set.size() - 1)];
    return missed / static_cast<double>(lines_of(size));
  };
}

std::vector<double> misses_by_lines(std::optional<Victim> victim, int ways) {
  Random random(1);
  std::vector<double> of_set;
  for (std::size_t lines = 0; lines < 6 * static_cast<std::size_t>(ways); ++lines) {
    const auto full = static_cast<std::size_t>(ways);
    of_set.push_back(victim ? set_misses(*victim, full, lines, random) : lines > full ? 1.0 : 0.0);
  }
  return of_set;
}

// As in a report: any lines of a region four times as large.
Coverage coverage_of_scattered(std::optional<Victim> victim, int ways, bool contiguous) {
  const auto of_set = misses_by_lines(victim, ways);
  Coverage coverage;
  Random random(9);
  for (int i = 0; i < test::in_full_run(10, 5); ++i) {
    const double capacity = (8 << random.uniform(0, 1)) * ways * 4 * kib;
    const double around = capacity * (0.85 + 0.4 * random.unit());
    const auto whole = [](double bytes) { return static_cast<std::uint64_t>(bytes / 4096) * 4096; };
    const Misses misses = scattered(of_set, capacity, ways, static_cast<double>(whole(4 * around)), contiguous);
    const auto curve =
        curve_of(size_grid(whole(around / 4), whole(3 * around), 16, 64), 5, {{misses, 8}}, 0.02, random);
    ++coverage.cases;
    const auto seen = find_scattered(curve);
    if (!seen) continue;
    const Capacity& found = *seen;
    if (found.low_bytes <= capacity && capacity <= found.high_bytes) ++coverage.covered;
    coverage.found.push_back(found.bytes / capacity);
    coverage.widest = std::max(coverage.widest, found.high_bytes / found.low_bytes - 1);
  }
  return coverage;
}

TEST(Capacity, of_scattered_lines_does_not_depend_on_frames) {
  for (const int ways : {8, 16}) {
    for (const bool contiguous : {false, true}) {
      const Coverage coverage = coverage_of_scattered({}, ways, contiguous);
      EXPECT_GE(coverage.share(coverage.covered), 0.9) << ways << contiguous;
      EXPECT_LE(coverage.widest, 0.15) << ways << contiguous;
      for (const double found : coverage.found) EXPECT_NEAR(found, 1, 0.03) << ways << contiguous;
    }
  }
}

// With random replacement, four times the capacity often shows no plateau after it: then no capacity is reported.
TEST(Capacity, of_scattered_lines_with_other_replacement_is_near) {
  for (const Victim victim : {Victim::any, Victim::not_recent}) {
    for (const int ways : {8, 16}) {
      const Coverage coverage = coverage_of_scattered(victim, ways, false);
      EXPECT_GE(coverage.found.size(), 1u) << static_cast<int>(victim) << ", " << ways;
      for (const double found : coverage.found) {
        EXPECT_GE(found, 0.9) << static_cast<int>(victim) << ", " << ways;
        EXPECT_LE(found, 1.25) << static_cast<int>(victim) << ", " << ways;
      }
    }
  }
}

TEST(Capacity, of_lru_levels_is_in_its_interval) {
  const Coverage coverage = coverage_of(lru, 0.02, 1);
  EXPECT_GE(coverage.share(coverage.covered), 0.95);
  EXPECT_LE(coverage.widest, grid_step - 1);
}

TEST(Capacity, of_random_replacement_is_in_its_interval) {
  const Coverage coverage = coverage_of(random_replacement, 0.02, 2);
  EXPECT_GE(coverage.share(coverage.covered), 0.95);
  EXPECT_LE(coverage.widest, 0.25);
}

TEST(Capacity, of_page_colours_is_in_its_interval) {
  for (const int ways : {8, 16}) {
    const Coverage coverage = coverage_of([&](double capacity) { return colours(capacity, ways); }, 0.02, 3);
    EXPECT_GE(coverage.share(coverage.covered), 0.95) << ways;
    EXPECT_LE(coverage.widest, 0.25) << ways;
  }
}

TEST(Capacity, with_prefetchers_is_in_its_interval) {
  for (const Prefetcher prefetcher : {Prefetcher::pair, Prefetcher::next_line, Prefetcher::streamer}) {
    const Coverage coverage = coverage_of([&](double capacity) { return prefetched(capacity, prefetcher); }, 0.02, 4);
    EXPECT_GE(coverage.share(coverage.covered), 0.95) << static_cast<int>(prefetcher);
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

TEST(Grid, eight_per_octave_in_whole_lines) {
  const auto sizes = size_grid(4096, 16384, 8, 64);
  EXPECT_EQ(sizes.size(), 17u);
  EXPECT_EQ(sizes.front(), 4096u);
  EXPECT_EQ(sizes[8], 8192u);
  EXPECT_EQ(sizes.back(), 16384u);
  for (const std::uint64_t size : sizes) EXPECT_EQ(size % 64, 0u);
  EXPECT_EQ(size_grid(64, 64, 8, 64), (std::vector<std::uint64_t>{64}));
}

TEST(Grid, halves_gaps_at_a_rise) {
  const Curve curve{{4096, 1, false, {}}, {8192, 1, false, {}}, {16384, 2, false, {}}};
  EXPECT_EQ(sizes_between(curve, 8000, 17000, 1.1, 64), (std::vector<std::uint64_t>{5824, 11584}));
  EXPECT_TRUE(sizes_between(curve, 8000, 17000, 2.1, 64).empty());
}

}  // namespace
}  // namespace tally::memory
