#include "tally/core/count/run_noise.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace tally {
namespace {

/// A sampled program: its number of functions, how uneven they are, and how much runs differ.
struct Program {
  const char* name;
  int functions = 40;
  double samples = 20'000, unevenness = 1;  ///< the share of function i is proportional to (i + 1)^-unevenness
  double drift = 0.01, spread = 0.01;       ///< of the whole machine; of each function
};

class Runs {
 public:
  explicit Runs(unsigned seed) : random_(seed) {}

  /// `factor`: changes the first function in the second run.
  std::vector<SampledRow> of(const Program& program, double factor) {
    constexpr double period = 250'000;
    std::vector<double> counts[2];
    double wholes[2] = {0, 0}, all = 0;
    for (int i = 0; i < program.functions; ++i) all += std::pow(i + 1.0, -program.unevenness);
    for (const int side : {0, 1}) {
      const double machine = 1 + program.drift * normal_(random_);
      for (int i = 0; i < program.functions; ++i) {
        double mean = program.samples * std::pow(i + 1.0, -program.unevenness) / all * machine *
                      (1 + program.spread * normal_(random_));
        if (side == 1 && i == 0) mean *= factor;
        counts[side].push_back(static_cast<double>(std::poisson_distribution<long>(std::max(mean, 0.0))(random_)));
        wholes[side] += counts[side].back();
      }
    }
    std::vector<SampledRow> rows;
    for (std::size_t i = 0; i < counts[0].size(); ++i)
      rows.push_back({{counts[0][i] * period, wholes[0] * period, wholes[0]},
                      {counts[1][i] * period, wholes[1] * period, wholes[1]}});
    return rows;
  }

 private:
  std::mt19937 random_;
  std::normal_distribution<double> normal_;
};

bool is_change(const SampledRow& row, const RunNoise& noise) {
  const Estimate by = difference(row, noise);
  return by.low > 0 || by.high < 0;
}

constexpr Program programs[] = {
    {"many functions", 40, 20'000, 1, 0.01, 0.01}, {"hundreds", 300, 50'000, 1, 0.02, 0.01},
    {"few alike", 4, 20'000, 0, 0.01, 0.01},       {"few samples", 40, 1'000, 1, 0.01, 0.01},
    {"no noise", 20, 20'000, 0.5, 0, 0},           {"a slower machine", 20, 50'000, 0.5, 0.1, 0.01},
    {"one hot loop", 10, 20'000, 4, 0.02, 0.01},   {"uneven runs", 60, 50'000, 0.7, 0.02, 0.03},
};

TEST(RunNoise, reports_a_change_in_at_most_3_of_60_runs_of_the_same_program) {
  for (const Program& program : programs) {
    Runs runs(20);
    int reported = 0;
    for (int pair = 0; pair < 60; ++pair) {
      const std::vector<SampledRow> rows = runs.of(program, 1);
      const RunNoise noise = run_noise(rows);
      for (const SampledRow& row : rows)
        if (is_change(row, noise)) {
          ++reported;
          break;
        }
    }
    EXPECT_LE(reported, 3) << program.name;
  }
}

TEST(RunNoise, finds_a_change_of_10_percent) {
  constexpr Program large[] = {{"many functions", 40, 100'000, 1, 0.01, 0.005},
                               {"few alike", 4, 200'000, 0, 0.01, 0.005},
                               {"a slower machine", 20, 200'000, 1, 0.03, 0.005}};
  for (const Program& program : large) {
    Runs runs(20);
    int found = 0, others = 0;
    for (int pair = 0; pair < 60; ++pair) {
      const std::vector<SampledRow> rows = runs.of(program, 1.1);
      const RunNoise noise = run_noise(rows);
      found += is_change(rows.front(), noise);
      for (std::size_t i = 1; i < rows.size(); ++i) others += is_change(rows[i], noise);
    }
    EXPECT_GE(found, 36) << program.name;
    EXPECT_LE(others, 3) << program.name;
  }
}

/// Of lines, even a third more may be chance.
TEST(RunNoise, is_wider_for_lines) {
  const SampledCount before{6000, 21000, 21000}, after{6000, 22000, 22000};
  const std::vector<SampledRow> rows{
      {{3000, 21000, 21000}, {4000, 22000, 22000}}, {before, after}, {before, after}, {before, after}};
  EXPECT_TRUE(is_change(rows[0], run_noise(rows)));
  EXPECT_FALSE(is_change(rows[0], run_noise(rows, spread_of_lines)));
}

/// A row that was counted and not sampled has the width of the other side alone.
TEST(RunNoise, of_one_row) {
  const std::vector<SampledRow> rows{{{1000, 1000, 0}, {1000, 1000, 0}}};
  const RunNoise noise = run_noise(rows);
  EXPECT_EQ(noise.drift, 1);
  EXPECT_EQ(noise.dispersion, 1);
  EXPECT_NEAR(noise.z, 2.5758, 0.0001) << "99 % of a normal distribution";
  EXPECT_EQ(run_noise({}).drift, 1);
}

/// If everything takes three times as long, the program changed.
TEST(RunNoise, reports_a_program_that_does_more) {
  std::vector<SampledRow> rows;
  for (const double count : {4000.0, 3000.0, 2000.0, 1000.0, 900.0})
    rows.push_back({{count, 10'900, 10'900}, {3 * count, 32'700, 32'700}});
  for (const SampledRow& row : rows) EXPECT_TRUE(is_change(row, run_noise(rows)));
}

/// Functions that occur on one side only.
TEST(RunNoise, reports_new_functions) {
  const std::vector<SampledRow> rows{{{900, 900, 900}, {900, 1400, 1400}}, {{0, 900, 900}, {500, 1400, 1400}}};
  const RunNoise noise = run_noise(rows);
  EXPECT_FALSE(is_change(rows[0], noise));
  EXPECT_TRUE(is_change(rows[1], noise));
}

}  // namespace
}  // namespace tally
