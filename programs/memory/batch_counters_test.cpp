// Tests of counts per step, from the counters before and after a batch.
#include "programs/memory/batch_counters.hpp"

#include <gtest/gtest.h>

#include "programs/memory/analysis/points.hpp"

namespace tally::memory {
namespace {

using Values = std::vector<linux::PerfValue>;

constexpr Nanoseconds ms{1'000'000};

TEST(BatchCounters, are_divided_by_the_steps) {
  const Values before{{1000, 5 * ms, 5 * ms}, {70, 5 * ms, 5 * ms}};
  const Values after{{4000, 6 * ms, 6 * ms}, {320, 6 * ms, 6 * ms}};
  EXPECT_EQ(counts_per_step(before, after, 1000), (std::vector<double>{3, 0.25}));
}

TEST(BatchCounters, are_empty_if_multiplexed) {
  const Values before{{1000, 5 * ms, 5 * ms}};
  EXPECT_TRUE(counts_per_step(before, {{{4000, 7 * ms, 6 * ms}}}, 1000).empty()) << "a part of the time";
  EXPECT_TRUE(counts_per_step(before, {{{1000, 6 * ms, 5 * ms}}}, 1000).empty()) << "all of it: no false 0";
  EXPECT_EQ(counts_per_step({{{1000, 5 * ms, 4 * ms}}}, {{{4000, 6 * ms, 5 * ms}}}, 1000), std::vector<double>{3})
      << "before the batch: that is no matter";
  EXPECT_TRUE(counts_per_step({}, {}, 1000).empty());
  EXPECT_TRUE(counts_per_step(before, {}, 1000).empty()) << "a reading that failed";
}

MappingSample mapping(double ns, std::vector<std::vector<double>> counts) {
  return {std::vector<double>(counts.size(), ns), true, 0, 1, 1, 0, std::move(counts)};
}

TEST(BatchCounters, of_a_point_are_the_median_of_quiet_mappings) {
  const PointSummary point =
      summarize_point({mapping(10, {{3, 0.5}, {3, 0.7}, {9, 0.6}}), mapping(10, {{3, 0.8}, {}, {3, 0.8}}),
                       mapping(10, {{4, 0.7}, {4, 0.7}, {4, 0.7}}), mapping(30, {{50, 50}, {50, 50}, {50, 50}})});
  EXPECT_EQ(point.quiet.size(), 3U) << "the slow one is somebody else's work";
  EXPECT_EQ(point.counts, (std::vector<double>{3, 0.7}));
  EXPECT_TRUE(summarize_point({mapping(10, {{}, {}})}).counts.empty()) << "not counted is not 0";
}

}  // namespace
}  // namespace tally::memory
