// change_points() on series whose changes are known.
#include "programs/results/change_points.hpp"

#include <gtest/gtest.h>

#include <random>

namespace tally::results {
namespace {

using Points = std::vector<std::size_t>;

TEST(ChangePoints, of_equal_counts_are_their_levels) {
  std::vector<double> counts(20, 793'981);
  EXPECT_EQ(change_points(counts), Points{});
  for (std::size_t i = 7; i < 20; ++i) counts[i] = 801'981;
  EXPECT_EQ(change_points(counts), Points{7});
  for (std::size_t i = 12; i < 20; ++i) counts[i] = 700'000;
  EXPECT_EQ(change_points(counts), (Points{7, 12}));
  counts[3] += 2;  // an environment variable more
  EXPECT_EQ(change_points(counts), (Points{7, 12}));
}

TEST(ChangePoints, of_0_1_percent_are_found) {
  std::vector<double> counts(30, 1e9);
  for (std::size_t i = 15; i < 30; ++i) counts[i] = 1.001e9;
  EXPECT_EQ(change_points(counts), Points{15});
}

TEST(ChangePoints, need_several_values) {
  EXPECT_EQ(change_points({}), Points{});
  EXPECT_EQ(change_points(std::vector<double>{1}), Points{});
  EXPECT_EQ(change_points(std::vector<double>{1, 2}), Points{});
  EXPECT_EQ(change_points(std::vector<double>{1, 1, 1, 9, 9}), Points{});
  EXPECT_EQ(change_points(std::vector<double>{1, 1, 1, 9, 9, 9}), Points{3});
}

// 5 % of noise, heavy tails among it: at most 5 of 100 series without a change have one.
TEST(ChangePoints, are_rare_in_noise) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal(100, 5);
  std::lognormal_distribution<double> heavy(0, 0.7);
  int found = 0;
  for (int series = 0; series < 200; ++series) {
    std::vector<double> times;
    for (int i = 0; i < 40; ++i) times.push_back(series % 2 == 0 ? normal(random) : 100 + 5 * heavy(random));
    found += !change_points(times).empty();
  }
  EXPECT_LE(found, 10);
}

TEST(ChangePoints, of_noisy_series_are_found) {
  std::mt19937_64 random(2);
  std::normal_distribution<double> normal(0, 5);
  int right = 0;
  for (int series = 0; series < 100; ++series) {
    std::vector<double> times;
    for (int i = 0; i < 40; ++i) times.push_back((i < 25 ? 100 : 120) + normal(random));
    const Points points = change_points(times);
    right += points.size() == 1 && points[0] >= 24 && points[0] <= 26;
  }
  EXPECT_GE(right, 95);
}

TEST(ChangePoints, are_no_outliers) {
  std::vector<double> times{100, 101, 99, 100, 102, 180, 101, 100, 99, 98, 101, 100};
  EXPECT_EQ(change_points(times), Points{});
}

}  // namespace
}  // namespace tally::results
