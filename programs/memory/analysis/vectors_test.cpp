// Published rows of Optane measurements that the VANS simulator ships (MIT licence), and the conclusions from them.
#include <gtest/gtest.h>

#include <cmath>

#include "programs/memory/analysis/cold.hpp"
#include "programs/memory/analysis/fence.hpp"
#include "programs/memory/analysis/levels.hpp"
#include "programs/memory/analysis/simulated_testing.hpp"
#include "programs/memory/analysis/sizes_testing.hpp"
#include "programs/memory/analysis/tails.hpp"
#include "programs/memory/statistics/timing_statistics.hpp"

namespace tally::memory {
namespace {

// ns per line of cold reads, blocks of 64 bytes, one module.
const std::vector<SizeTime> single{
    {4 * kib, 175.2},   {8 * kib, 178.4},   {12 * kib, 180.6},  {16 * kib, 180.6},  {17 * kib, 182.9},
    {19 * kib, 193.2},  {21 * kib, 205.8},  {23 * kib, 214.3},  {25 * kib, 227.8},  {27 * kib, 228.1},
    {29 * kib, 236.9},  {31 * kib, 242.1},  {64 * kib, 275.8},  {124 * kib, 294.9}, {128 * kib, 296.2},
    {184 * kib, 302.8}, {244 * kib, 305.9}, {1 * mib, 309.5},   {8 * mib, 311.3},   {12 * mib, 311.7},
    {16 * mib, 312.6},  {20 * mib, 324.8},  {24 * mib, 333.2},  {28 * mib, 339.4},  {32 * mib, 344.4},
    {128 * mib, 374.7}, {256 * mib, 377.4}, {512 * mib, 378.5}, {1 * gib, 377.8}};

std::vector<SizeTime> between(const std::vector<SizeTime>& all, double from, double to) {
  std::vector<SizeTime> some;
  for (const SizeTime& one : all) {
    if (one.size_bytes >= from && one.size_bytes <= to) some.push_back(one);
  }
  return some;
}

TEST(Vectors, amplification_and_entries) {
  const struct {
    double block, read_16k, read_16m, read_512m, rmw, ait, write_4k, write_16m, lsq;
  } rows[] = {{64, 180.618, 312.594, 378.504, 1.731, 1.211, 29.425, 109.836, 3.733},
              {128, 119.202, 170.589, 200.415, 1.431, 1.175, 27.600, 55.856, 2.024},
              {256, 90.327, 90.860, 106.440, 1.006, 1.171, 27.473, 27.652, 1.007},
              {512, 49.944, 50.505, 56.573, 1.011, 1.120, 27.497, 27.641, 1.005},
              {1024, 37.623, 37.416, 39.874, .994, 1.066, 27.523, 27.582, 1.002},
              {2048, 26.039, 25.500, 26.305, .979, 1.032, 27.653, 27.541, .996},
              {4096, 23.856, 23.077, 23.114, .967, 1.002, 27.520, 27.508, 1.000}};
  std::vector<Amplification> first;
  std::vector<Amplification> second;
  std::vector<Amplification> writes;
  for (const auto& row : rows) {
    EXPECT_NEAR(row.read_16m / row.read_16k, row.rmw, 0.002);
    EXPECT_NEAR(row.read_512m / row.read_16m, row.ait, 0.002);
    EXPECT_NEAR(row.write_16m / row.write_4k, row.lsq, 0.002);
    first.push_back({row.block, row.read_16m / row.read_16k});
    second.push_back({row.block, row.read_512m / row.read_16m});
    writes.push_back({row.block, row.write_16m / row.write_4k});
  }
  EXPECT_EQ(entry_size(first), 256);
  EXPECT_EQ(entry_size(second), 4096);
  EXPECT_EQ(entry_size(second, 0.035), 2048) << "why the tolerance is 3 %";
  EXPECT_EQ(entry_size(writes), 256);
  EXPECT_FALSE(entry_size(std::vector<Amplification>{{64, 1.7}, {128, 1.4}}));
}

TEST(Vectors, write_queue_ratios) {
  const struct {
    double at_block, at_512, ratio;
  } rows[] = {{186.553, 28.054, 6.650}, {107.386, 28.237, 3.803}, {51.543, 27.884, 1.848}, {27.857, 27.857, 1.000}};
  for (const auto& row : rows) EXPECT_NEAR(row.at_block / row.at_512, row.ratio, 0.002);
}

TEST(Forwarding, is_decided_if_the_interval_is_on_one_side) {
  const TimeInterval write{1.0, 0.98, 1.02}, read{4.0, 3.9, 4.1};
  const auto of = [&](double raw, double width) { return forwarding({raw, raw - width, raw + width}, write, read); };
  EXPECT_EQ(of(3, 0.1).forwarded, Forwarded::yes);
  EXPECT_EQ(of(6, 0.1).forwarded, Forwarded::no);
  EXPECT_EQ(of(4.49, 0.1).forwarded, Forwarded::undecided) << "0.898, once called served above";
  EXPECT_EQ(of(4.51, 0.1).forwarded, Forwarded::undecided) << "0.902, once called nothing is forwarded";
  EXPECT_EQ(of(3, 2).forwarded, Forwarded::undecided);
  EXPECT_EQ(of(3, 2).reason, "0.9 is within the interval; more --mappings and --batches narrow it");
  EXPECT_EQ(of(3, 0.1).reason, "");
  const Forwarding one = of(3, 0.1);
  EXPECT_NEAR(one.share, 0.6, 1e-9);
  EXPECT_NEAR(*one.low, 2.9 / 5.12, 1e-9);
  EXPECT_NEAR(*one.high, 3.1 / 4.88, 1e-9);
}

TEST(Forwarding, without_intervals_is_undecided) {
  const Forwarding one = forwarding({1, {}, {}}, {1, 1, 1}, {4, 4, 4});
  EXPECT_EQ(one.forwarded, Forwarded::undecided);
  EXPECT_FALSE(one.low);
  EXPECT_EQ(name(one.forwarded), "undecided");
  EXPECT_TRUE(one.reason.starts_with("no interval of raw: ")) << one.reason;
}

TEST(Vectors, plateaus_of_one_module) {
  Curve curve;
  for (const SizeTime& one : single) curve.push_back({one.size_bytes, one.ns, false, {}});
  const auto plateaus = find_plateaus(curve);
  ASSERT_EQ(plateaus.size(), 3u);
  EXPECT_NEAR(plateaus[0].ns, 180, 2);
  EXPECT_NEAR(plateaus[1].ns, 310, 2);
  EXPECT_NEAR(plateaus[2].ns, 378.5, 2);
}

TEST(Vectors, the_fence_of_small_writes) {
  const double ns[] = {186.553, 101.0, 68.6, 51.3, 42.2, 35.8, 31.7, 28.054, 27.6, 27.5};
  std::vector<SizeTime> rows;
  for (int i = 0; i < 10; ++i) rows.push_back({64.0 * (i + 1), ns[i]});
  const std::vector<SizeTime> floor{rows.back()};
  const FenceFit fit = fit_fence(between(rows, 128, 512), floor);
  // Most rows are rounded to a tenth.
  EXPECT_NEAR(fit.fence_ns, 192.6, 0.1);
  EXPECT_NEAR(fit.line_ns, 3.90, 0.005);
  EXPECT_NEAR(fit.floor_ns, 27.5, 0.05);
  EXPECT_NEAR(fit.crossing_bytes, 522, 0.6);
  const FenceFit with_first = fit_fence(between(rows, 64, 512), floor);
  EXPECT_NEAR(with_first.fence_ns, 187.6, 0.1);
  EXPECT_NEAR(with_first.line_ns, 4.73, 0.005);
  EXPECT_NEAR(with_first.crossing_bytes, 527, 0.6);
  EXPECT_FALSE(fit.queue);
}

TEST(Vectors, long_writes_are_periodic) {
  const std::int64_t writes[] = {10731,  25132,  39262,  53624,  69200,  84641,  100713, 115841,
                                 129216, 146608, 163878, 179860, 197708, 215969, 232367, 251088};
  std::vector<Outlier> outliers;
  for (const std::int64_t write : writes) outliers.push_back({write, 114'676});
  const Tails tails = judge_tails(outliers);
  EXPECT_NEAR(tails.mean_gap, 16'023.8, 0.05);
  EXPECT_EQ(tails.shortest_gap, 13'375);
  EXPECT_EQ(tails.longest_gap, 18'721);
  EXPECT_NEAR(tails.variation, 0.10, 0.005);
  EXPECT_TRUE(tails.periodic);
  EXPECT_FALSE(judge_tails(outliers, 1, 16, 1).periodic) << "the same loop without writes has as many";
  EXPECT_TRUE(judge_tails(outliers, 1, 1, 1).periodic);
}

TEST(Tails, distinguish_a_period_from_a_background) {
  Random random(1);
  std::vector<Outlier> periodic;
  std::vector<Outlier> background;
  std::int64_t write = 0;
  for (int i = 0; i < 20; ++i)
    periodic.push_back({write += 14'400 + static_cast<std::int64_t>(random.uniform(0, 3200)), 50'000});
  write = 0;
  for (int i = 0; i < 200; ++i) {
    background.push_back({write += static_cast<std::int64_t>(-16'000 * std::log(1 - random.unit())), 50'000});
  }
  EXPECT_TRUE(judge_tails(periodic).periodic);
  EXPECT_FALSE(judge_tails(background).periodic);
  EXPECT_NEAR(judge_tails(background).variation, 1, 0.2);
  EXPECT_EQ(outlying(std::vector<double>{1, 1, 1, 10.5, 1}).size(), 1u);
}

TEST(Fence, recovers_parameters_and_detects_only_queues) {
  Random random(1);
  for (const bool queue : {false, true}) {
    std::vector<SizeTime> small;
    std::vector<SizeTime> large;
    for (int lines = 1; lines <= 16; ++lines) {
      // After eight lines the queue is full, and each further region waits until it has drained once.
      const double ns = 200 + 3 * lines + (queue && lines > 8 ? 120 : 0);
      small.push_back({64.0 * lines, ns / lines * noise(random, 0.003)});
    }
    for (int i = 0; i < 5; ++i) large.push_back({1e6 * (i + 1), 27 * noise(random, 0.005)});
    const FenceFit fit = fit_fence(small, large);
    EXPECT_EQ(fit.queue, queue);
    if (queue) continue;
    EXPECT_NEAR(fit.fence_ns, 200, 4);
    EXPECT_NEAR(fit.line_ns, 3, 0.06 + 0.2);
    EXPECT_NEAR(fit.floor_ns, 27, 0.54);
  }
}

}  // namespace
}  // namespace tally::memory
