#include "tally/core/stats/proportion.hpp"

#include <gtest/gtest.h>

#include <random>

namespace tally {
namespace {

/// Published values.
TEST(ShareInterval, matches_wilsons_published_values) {
  // Newcombe, "Two-sided confidence intervals for the single proportion", 1998, table I: method 3.
  EXPECT_NEAR(share_interval(81.0 / 263, 263).low, 0.2553, 0.00005);
  EXPECT_NEAR(share_interval(81.0 / 263, 263).high, 0.3662, 0.00005);
  EXPECT_NEAR(share_interval(15.0 / 148, 148).low, 0.0624, 0.00005);
  EXPECT_NEAR(share_interval(15.0 / 148, 148).high, 0.1605, 0.00005);
  EXPECT_NEAR(share_interval(0.0, 20).low, 0, 1e-12);
  EXPECT_NEAR(share_interval(0.0, 20).high, 0.1611, 0.00005);
  EXPECT_NEAR(share_interval(1.0 / 29, 29).low, 0.0061, 0.00005);
  EXPECT_NEAR(share_interval(1.0 / 29, 29).high, 0.1718, 0.00005);
}

TEST(ShareInterval, of_no_samples_is_0_to_1) { EXPECT_EQ(share_interval(0, 0), (ShareInterval{0, 1})); }

/// The interval contains the true share in 95 of 100 cases.
TEST(ShareInterval, contains_the_truth_in_95_percent_of_cases) {
  std::mt19937 random(38);
  for (const double truth : {0.5, 0.1, 0.02}) {
    constexpr int samples = 400, rounds = 4000;
    std::binomial_distribution<int> draw(samples, truth);
    int within = 0;
    for (int i = 0; i < rounds; ++i) {
      const ShareInterval one = share_interval(static_cast<double>(draw(random)) / samples, samples);
      within += one.low <= truth && truth <= one.high;
    }
    EXPECT_NEAR(within / double{rounds}, 0.95, 0.02) << truth;
  }
}

/// Newcombe, "Interval estimation for the difference between independent proportions", 1998, table II: method 10.
TEST(Difference, matches_newcombes_published_values) {
  const auto of = [](double k, double n) {
    const ShareInterval one = share_interval(k / n, n);
    return Estimate{k / n, one.low, one.high};
  };
  const Estimate first = difference(of(56, 70), of(48, 80));
  EXPECT_NEAR(first.low, 0.0524, 0.00005);
  EXPECT_NEAR(first.high, 0.3339, 0.00005);
  const Estimate second = difference(of(9, 10), of(3, 10));
  EXPECT_NEAR(second.low, 0.1705, 0.00005);
  EXPECT_NEAR(second.high, 0.8090, 0.00005);
}

}  // namespace
}  // namespace tally
