// Tests of which timings count, and which points a busy machine disturbed.
#include <gtest/gtest.h>

#include "programs/memory/analysis/points.hpp"
#include "programs/memory/statistics/timing_statistics.hpp"

namespace tally::memory {
namespace {

MappingSample steady(double ns, std::int64_t rejected = 0) {
  return {{ns, ns * 1.001, ns * 0.999, ns, ns}, true, rejected, 1.2, 3};
}

TEST(Statistics, medians_quantiles_and_outliers) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(quantile({1, 2, 3, 4, 5}, 0.5), 3);
  EXPECT_EQ(quantile({1, 2}, 0.25), 1.25);
  EXPECT_EQ(outliers({1, 1, 1, 1, 1.01}), std::vector<bool>(5)) << "a percent is the timer's";
  EXPECT_EQ(outliers({1, 1, 1, 1, 3}), (std::vector<bool>{false, false, false, false, true}));
}

TEST(Statistics, two_samples_of_one_distribution_are_alike) {
  std::vector<double> a;
  std::vector<double> b;
  for (int i = 0; i < 50; ++i) {
    a.push_back(i);
    b.push_back(i + 0.5);
  }
  EXPECT_GT(kolmogorov_smirnov(a, b), 0.99);
  for (double& value : b) value += 100;
  EXPECT_LT(kolmogorov_smirnov(a, b), 1e-9);
  // D = 0.3 of two samples of 50: λ = (5 + 0.12 + 0.022)·0.3 = 1.5426, p = 2·e^(−2λ²) = 0.0171.
  for (int i = 0; i < 50; ++i) b[static_cast<std::size_t>(i)] = i + 15 - 0.5;
  EXPECT_NEAR(kolmogorov_smirnov(a, b), 0.0171, 0.0005);
  EXPECT_EQ(kolmogorov_smirnov(a, {}), 1);
}

TEST(Point, median_of_medians_with_a_bootstrap_interval) {
  const PointSummary point = summarize_point({steady(4), steady(4.1), steady(4.2), steady(4.1), steady(4)});
  EXPECT_NEAR(point.ns, 4.1, 1e-9);
  EXPECT_NEAR(*point.ns_min, 4 * 0.999, 1e-9);
  EXPECT_NEAR(point.cycles, 12.3, 1e-6);
  EXPECT_LE(point.ns_low, 4.1);
  EXPECT_GE(point.ns_high, 4.1);
  EXPECT_EQ(point.batches, 25);
  EXPECT_TRUE(point.flags.empty());
}

using Words = std::vector<std::string>;

TEST(Point, is_flagged_if_mappings_were_disturbed) {
  EXPECT_EQ(summarize_point({steady(4, 2), steady(4, 2)}).flags, Words{"2 of 2 mappings disturbed: batches rejected"});
  EXPECT_EQ(summarize_point({{{}, true, 30, 1.2, 3}}).flags, Words{"1 of 1 mappings disturbed: batches rejected"});
  MappingSample rough = steady(4);
  rough.ns = {4, 6, 6, 6, 6};
  EXPECT_EQ(summarize_point({rough}).flags, Words{"1 of 1 mappings disturbed: laps differ"});
  rough.whole_laps = false;
  EXPECT_TRUE(summarize_point({rough}).flags.empty()) << "an arc of the ring may be lucky";
  MappingSample with_neighbour = steady(4);
  with_neighbour.reference_cycles = 4.2;
  EXPECT_TRUE(summarize_point({with_neighbour}, Surroundings{4.1}).flags.empty());
  EXPECT_TRUE(summarize_point({with_neighbour}, Surroundings{0}).flags.empty());
  EXPECT_EQ(summarize_point({with_neighbour}, Surroundings{4.0}).flags,
            Words{"1 of 1 mappings disturbed: a neighbour in the core"});
}

// Other programs make a load slower, never faster.
TEST(Point, uses_mappings_that_agree_on_the_lowest_latency) {
  const PointSummary point = summarize_point({steady(16), steady(150), steady(15), steady(120), steady(15.5)});
  EXPECT_TRUE(point.flags.empty());
  EXPECT_NEAR(point.ns, 15.5, 1e-9);
  EXPECT_EQ(point.quiet, (std::vector<std::size_t>{2, 4, 0}));
  EXPECT_EQ(point.batches, 15);
  EXPECT_EQ(point.rejected, 10) << "batches of the others";
  EXPECT_EQ(summarize_point({steady(16), steady(150), steady(15), steady(120), steady(140)}).flags,
            Words{"mappings differ by 900 %"})
      << "two may be chance";
  EXPECT_EQ(summarize_point({steady(4), steady(5)}).flags, Words{"mappings differ by 25 %"});
  std::vector<MappingSample> mostly_busy{steady(15), steady(15), steady(15)};
  for (int i = 0; i < 7; ++i) mostly_busy.push_back(steady(100 + i));
  EXPECT_EQ(summarize_point(mostly_busy).flags, Words{"mappings differ by 607 %"}) << "fewer than a third";
  mostly_busy.pop_back();
  EXPECT_NEAR(summarize_point(mostly_busy).ns, 15, 1e-9);
}

TEST(Point, disturbed_mappings_do_not_spoil_the_others) {
  MappingSample with_neighbour = steady(9);
  with_neighbour.reference_cycles = 5;
  MappingSample quiet = steady(4);
  quiet.reference_cycles = 4;
  const PointSummary point = summarize_point({with_neighbour, quiet, quiet, with_neighbour, quiet}, Surroundings{4});
  EXPECT_TRUE(point.flags.empty());
  EXPECT_NEAR(point.ns, 4, 1e-9);
  EXPECT_EQ(summarize_point({with_neighbour, quiet, quiet, with_neighbour}, Surroundings{4}).flags,
            Words{"2 of 4 mappings disturbed: a neighbour in the core"})
      << "two are not enough";
}

TEST(Point, with_a_shared_cache_uses_mappings_that_had_it) {
  const auto served = [](double ns, double from_memory) {
    MappingSample mapping = steady(ns);
    mapping.from_memory = from_memory;
    return mapping;
  };
  std::vector<MappingSample> held(10, served(100, 0.6));
  EXPECT_TRUE(summarize_point(held).flags.empty()) << "nobody knows that there is a cache";
  EXPECT_EQ(summarize_point({served(60, 0.4), served(80, 0.5), served(140, 1)}).flags,
            Words{"others fill the shared cache: mappings differ by 133 %"});
  for (int i = 0; i < 2; ++i) held.push_back(served(15, 0.002));
  EXPECT_EQ(summarize_point(held).flags, Words{"10 of 12 mappings disturbed: others fill the shared cache"});
  held.push_back(served(15, 0.01));
  const PointSummary point = summarize_point(held);
  EXPECT_TRUE(point.flags.empty());
  EXPECT_EQ(point.quiet.size(), 3u);
  EXPECT_NEAR(point.ns, 15, 1e-9);
}

// The output of a public tool, while another program used the processor.
TEST(Point, that_exceeds_both_neighbours_is_flagged) {
  EXPECT_EQ(neighbour_flag(218.9, 657.6, 194.2), "657.6 ns between 218.9 and 194.2");
  EXPECT_EQ(neighbour_flag(36, 163, 170), "");
  EXPECT_EQ(neighbour_flag(36, 50, 20), "");
}

TEST(Run, is_contended_above_a_tenth_of_flagged_points) {
  EXPECT_FALSE(judge_run(100, 10, {1.2, 1.2}).contended);
  const RunVerdict verdict = judge_run(100, 11, {1.2, 1.2});
  EXPECT_TRUE(verdict.contended);
  EXPECT_EQ(verdict.why, "11 of 100 points flagged");
  EXPECT_TRUE(judge_run(100, 0, {1.0, 1.2, 1.2}).contended);
  EXPECT_FALSE(judge_run(100, 0, {1.0, 1.05, 1.09}).contended);
  EXPECT_TRUE(judge_run(0, 0, {}).contended);
}

// Others use the processor half of the time: batches after a settling lap measure the machine, the rest do not.
TEST(SharedPoint, uses_settled_mappings_only) {
  MappingSample settled = steady(4);
  settled.settled = true;
  const MappingSample other = steady(3);  // too fast to be plausible
  const Surroundings shared{0, 0.5};
  EXPECT_EQ(summarize_point({other, other, other}, shared).flags,
            Words{"3 of 3 mappings disturbed: the processor was shared"});
  EXPECT_EQ(summarize_point({other, other, other}, shared).why, processor_shared);
  const PointSummary point = summarize_point({other, settled, other, settled, settled}, shared);
  EXPECT_TRUE(point.flags.empty());
  EXPECT_NEAR(point.ns, 4, 1e-9);
  EXPECT_FALSE(summarize_point({other, settled, other, settled}, shared).flags.empty()) << "found twice only";
  EXPECT_TRUE(summarize_point({other, other, other}, Surroundings{0, 0.3}).flags.empty()) << "nearly always its own";
}

TEST(SharedPoint, settled_may_lose_more_batches_and_must_agree) {
  MappingSample settled = steady(4, 14);
  EXPECT_EQ(disturbance_of(settled, {}), "batches rejected");
  settled.settled = true;
  EXPECT_EQ(disturbance_of(settled, {}), "");
  settled.rejected = 16;
  EXPECT_EQ(disturbance_of(settled, {}), "batches rejected") << "of 5";
  settled = steady(4);
  settled.settled = true;
  settled.ns = {4, 6, 6, 6, 6};
  EXPECT_EQ(disturbance_of(settled, {0, 0.5}), "laps differ");
}

TEST(SharedPoint, makes_the_run_contended_without_flags) {
  EXPECT_FALSE(judge_run(20, 1, {1, 1}, 0.3).contended);
  const RunVerdict verdict = judge_run(20, 1, {1, 1}, 0.5);
  EXPECT_TRUE(verdict.contended);
  EXPECT_EQ(verdict.why, "the processor was shared, 50 % of the time was spent waiting for it");
}

}  // namespace
}  // namespace tally::memory
