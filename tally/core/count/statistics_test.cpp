#include "tally/core/count/statistics.hpp"

#include <gtest/gtest.h>

namespace tally {
namespace {

std::vector<Count> series(std::initializer_list<std::int64_t> values) {
  std::vector<Count> counts;
  for (const std::int64_t value : values) counts.push_back(exact(value, Source::engine));
  return counts;
}

TEST(MedianRanks, are_nothing_up_to_five) {
  for (std::size_t n = 0; n <= 5; ++n) EXPECT_FALSE(median_ranks(n)) << n;
}

// The standard table of distribution-free intervals of the median (95 %).
TEST(MedianRanks, equal_the_published_table) {
  const std::vector<std::vector<std::size_t>> table{{6, 1, 6},    {7, 1, 7},    {8, 1, 8},    {9, 2, 8},    {10, 2, 9},
                                                    {12, 3, 10},  {15, 4, 12},  {17, 5, 13},  {20, 6, 15},  {25, 8, 18},
                                                    {30, 10, 21}, {40, 14, 27}, {50, 18, 33}, {100, 40, 61}};
  for (const auto& row : table) {
    const auto ranks = median_ranks(row[0]);
    ASSERT_TRUE(ranks) << row[0];
    EXPECT_EQ(ranks->low, row[1]) << row[0];
    EXPECT_EQ(ranks->high, row[2]) << row[0];
    EXPECT_GE(ranks->coverage, 0.95);
  }
  EXPECT_NEAR(median_ranks(6)->coverage, 0.96875, 1e-12);
  EXPECT_NEAR(median_ranks(10)->coverage, 1 - 2 * 11.0 / 1024, 1e-12);
}

TEST(MedianRanks, of_a_long_series_stay_finite) {
  const auto ranks = median_ranks(5000);
  ASSERT_TRUE(ranks);
  EXPECT_EQ(ranks->low + ranks->high, 5001u);
  EXPECT_NEAR(static_cast<double>(ranks->low), 2500 - 0.98 * 70.71, 1.5);
}

TEST(Summary, of_an_odd_series) {
  const Summary summary = summarize(series({5, 1, 3}));
  EXPECT_EQ(summary.median, 3.0);
  EXPECT_EQ(summary.min, 1);
  EXPECT_EQ(summary.max, 5);
  EXPECT_FALSE(summary.low);
  EXPECT_FALSE(summary.high);
  EXPECT_NE(summary.reason.find("3 runs are too few"), std::string::npos);
}

TEST(Summary, of_an_even_series_is_between_the_two_middle_values) {
  EXPECT_EQ(summarize(series({1, 2, 3, 4})).median, 2.5);
  EXPECT_EQ(summarize(series({-4, -1})).median, -2.5);
}

TEST(Summary, interval_is_made_of_values_of_the_series) {
  const Summary summary = summarize(series({9, 8, 7, 6, 5, 4, 3, 2, 1}));
  EXPECT_EQ(summary.low, 2);
  EXPECT_EQ(summary.high, 8);
  EXPECT_EQ(summary.median, 5.0);
  EXPECT_TRUE(summary.reason.empty());
}

TEST(Summary, with_one_absent_count_is_absent) {
  auto counts = series({1, 2, 3});
  counts.push_back(absent("the counter never ran"));
  const Summary summary = summarize(counts);
  EXPECT_FALSE(summary.median);
  EXPECT_EQ(summary.trust, Trust::absent);
  EXPECT_EQ(summary.reason, "the counter never ran");
}

TEST(Summary, is_as_trustworthy_as_its_worst_run) {
  auto counts = series({1, 2, 3, 4, 5, 6});
  counts.push_back(partial(7, Source::wait4, "mixed"));
  EXPECT_EQ(summarize(counts).trust, Trust::partial);
  EXPECT_EQ(summarize(counts).reason, "mixed");
}

TEST(Summary, of_ratios_is_made_in_the_same_way) {
  std::vector<Ratio> ratios;
  for (const double value : {0.5, 0.25, 1.0}) ratios.push_back({value, Trust::exact, "", ""});
  const RatioSummary summary = summarize_ratios(ratios);
  EXPECT_EQ(summary.median, 0.5);
  EXPECT_EQ(summary.min, 0.25);
  EXPECT_EQ(summary.max, 1.0);
  EXPECT_FALSE(summary.low);
  ratios.push_back({std::nullopt, Trust::absent, "nothing to divide by", ""});
  EXPECT_EQ(summarize_ratios(ratios).trust, Trust::absent);
  EXPECT_FALSE(summarize_ratios(ratios).median);
}

TEST(Summary, the_median_has_the_reason_of_the_nearest_run) {
  const std::vector<Count> counts{exact(10, Source::engine),
                                  downgraded(exact(90, Source::engine), Trust::partial, "90 of them"),
                                  downgraded(exact(12, Source::engine), Trust::partial, "12 of them")};
  const Count median = median_count(summarize(counts), counts);
  EXPECT_EQ(median.value, 12);
  EXPECT_EQ(median.trust, Trust::partial);
  EXPECT_EQ(median.reason, "12 of them");
}

TEST(Summary, of_an_empty_series_has_a_reason) { EXPECT_FALSE(summarize({}).reason.empty()); }

}  // namespace
}  // namespace tally
