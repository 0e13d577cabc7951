// Gates by simulation: how often a change above the limit passes, and one below it fails.
#include "tally/output/analysis/growth.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tally/core/base/full_run_testing.hpp"
#include "tally/core/stats/portable_random.hpp"

namespace tally::output {
namespace {

constexpr double limit = 0.01;

LimitVerdict verdict_of(const RepeatedValue& before, const RepeatedValue& after, double most = limit) {
  const GrowthOrReason growth = growth_between(before, after, false, true);
  return std::holds_alternative<Growth>(growth) ? judge_growth(std::get<Growth>(growth), most) : LimitVerdict::unknown;
}

enum class Noise { normal, log_normal, two_levels };

/// Counts of a program: `mean` times a random factor. Two levels: as of a program whose addresses are random.
std::vector<double> runs_of(discover::Random& random, Noise noise, double relative, double mean, std::size_t runs) {
  std::vector<double> values;
  for (std::size_t i = 0; i < runs; ++i) {
    const double factor = noise == Noise::normal       ? 1 + relative * random.normal()
                          : noise == Noise::log_normal ? std::exp(relative * random.normal())
                                                       : 1 + (random.share() < 0.5 ? relative : 0);
    values.push_back(std::round(mean * factor));
  }
  return values;
}

class GrowthOf : public testing::TestWithParam<std::size_t> {};

// Up to three standard errors more than 1 %: 20 of 1,000.
TEST_P(GrowthOf, many_programs_is_judged_wrongly_in_at_most_one_of_a_hundred) {
  constexpr int seeds = 1000, most_wrong = 20;
  const std::size_t runs = GetParam();
  discover::Random random(runs, {});
  for (const Noise noise : {Noise::normal, Noise::log_normal, Noise::two_levels})
    for (const double relative : {0.0, 0.001, 0.01, 0.05})
      for (const double change : {0.0, 0.005, 0.0099, 0.0101, 0.02, 0.1, 0.8}) {
        SCOPED_TRACE(testing::Message() << "noise " << static_cast<int>(noise) << " of " << relative << ", change "
                                        << change);
        int passed = 0, failed = 0;
        for (int seed = 0; seed < seeds; ++seed) {
          const RepeatedValue before{runs_of(random, noise, relative, 6e6, runs)};
          const RepeatedValue after{runs_of(random, noise, relative, 6e6 * (1 + change), runs)};
          const LimitVerdict verdict = verdict_of(before, after);
          passed += verdict == LimitVerdict::within;
          failed += verdict == LimitVerdict::above;
          if (*std::min_element(after.runs.begin(), after.runs.end()) >
              (1 + limit) * *std::max_element(before.runs.begin(), before.runs.end())) {
            ASSERT_NE(verdict, LimitVerdict::within);
          }
        }
        EXPECT_LE(change > limit ? passed : failed, most_wrong);
        if (runs >= fewest_runs && change == 0.8) {
          EXPECT_EQ(failed, seeds) << "a large change is found with few runs";
        }
      }
}

INSTANTIATE_TEST_SUITE_P(runs, GrowthOf,
                         testing::ValuesIn(test::in_full_run(std::vector<std::size_t>{1,  2,  3,  4,  5,  6,  7,
                                                                                      8,  9,  10, 11, 12, 13, 14,
                                                                                      15, 16, 17, 18, 19, 20},
                                                             std::vector<std::size_t>{1, 2, 3, 5, 10, 20})));

TEST(Growth, needs_five_runs_on_both_sides) {
  const std::vector<double> many{1.00, 1.01, 1.02, 1.03, 1.04, 1.05, 1.06, 1.07, 1.08, 1.09};
  EXPECT_EQ(verdict_of({many}, {{1.50, 1.51}}), LimitVerdict::unknown);
  EXPECT_EQ(verdict_of({{0.90, 0.91, 0.92, 0.93}}, {many}), LimitVerdict::unknown);
  EXPECT_EQ(verdict_of({many}, {{1.50, 1.51, 1.52, 1.53, 1.54}}), LimitVerdict::above);
}

TEST(Growth, is_a_point_if_enough_runs_agree) {
  const auto growth = [](std::size_t runs, bool repeatable, double after) {
    return growth_between({std::vector<double>(runs, 1000), repeatable}, {std::vector<double>(runs, after), repeatable},
                          false, true);
  };
  for (const auto& [runs, repeatable] : {std::pair{1U, true}, {2U, true}, {4U, false}}) {
    const GrowthOrReason found = growth(runs, repeatable, 1020);
    ASSERT_TRUE(std::holds_alternative<Growth>(found));
    EXPECT_TRUE(std::get<Growth>(found).is_point());
    EXPECT_DOUBLE_EQ(std::get<Growth>(found).low, 0.02);
  }
  for (const auto& [runs, repeatable] : {std::pair{1U, false}, {2U, false}, {3U, false}})
    EXPECT_TRUE(std::holds_alternative<std::string>(growth(runs, repeatable, 1020))) << runs;
  EXPECT_TRUE(std::holds_alternative<Growth>(growth(2, false, 1000))) << "they agree with each other, too";
}

TEST(Growth, of_single_runs_that_read_a_clock_is_unknown_unless_they_agree) {
  const auto growth = [](double after, std::size_t runs) {
    return growth_between({std::vector<double>(runs, 1000), true, "clock"}, {std::vector<double>(runs, after), true},
                          false, true);
  };
  EXPECT_TRUE(std::holds_alternative<Growth>(growth(1000, 1)));
  ASSERT_TRUE(std::holds_alternative<std::string>(growth(1500, 1)));
  EXPECT_NE(std::get<std::string>(growth(1500, 1)).find("(clock): count both with --repeatable, or 5 times (-r 5)"),
            std::string::npos);
  EXPECT_TRUE(std::holds_alternative<Growth>(growth(1500, 2)));
}

TEST(Growth, has_a_width_if_the_runs_of_one_side_agree) {
  std::vector<double> after(20, 1000);
  after.back() = 1030;
  const auto growth = growth_between({std::vector<double>(20, 1000)}, {after}, false, true);
  ASSERT_TRUE(std::holds_alternative<Growth>(growth));
  EXPECT_FALSE(std::get<Growth>(growth).is_point());
}

TEST(Growth, of_what_more_is_better_is_a_decrease_and_from_zero_infinite) {
  const auto point = [](double before, double after, bool more, bool relative) {
    return std::get<Growth>(growth_between({{before}, true}, {{after}, true}, more, relative)).low;
  };
  EXPECT_DOUBLE_EQ(point(2, 1, true, true), 0.5);
  EXPECT_DOUBLE_EQ(point(2, 1, false, true), -0.5);
  EXPECT_DOUBLE_EQ(point(100, 130, false, false), 30);
  EXPECT_TRUE(std::isinf(point(0, 1, false, true)));
  EXPECT_DOUBLE_EQ(point(0, 0, false, true), 0);
}

TEST(Growth, says_how_many_runs_decide) {
  discover::Random random(7, {});
  const RepeatedValue before{runs_of(random, Noise::normal, 0.01, 1e6, 5)};
  const RepeatedValue near{runs_of(random, Noise::normal, 0.01, 1.03e6, 5)};
  const auto runs = runs_to_decide(before, near, false, true, limit);
  ASSERT_TRUE(runs);
  EXPECT_GE(*runs, fewest_runs);
  EXPECT_FALSE(runs_to_decide({{1, 2}}, {{1, 2}}, false, false, 0)) << "half of the pairs are above";
}

}  // namespace
}  // namespace tally::output
