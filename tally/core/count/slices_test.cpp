#include "tally/core/count/slices.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace tally {
namespace {

constexpr std::int64_t millisecond = 1'000'000;

Reading ran(std::int64_t events) { return {events, Nanoseconds{millisecond}, Nanoseconds{millisecond}}; }
constexpr Reading waited{0, Nanoseconds{millisecond}, Nanoseconds{0}};

Count scaled(const Slices& slices, const std::vector<Reading>& readings) {
  Reading sum;
  for (const Reading& one : readings) sum = sum + one;
  return with_error(from_reading(sum, CountSource::pmu("cpu")), slices);
}

struct Observed {
  Slices slices;
  std::vector<Reading> readings;
  void add(const Reading& one) {
    slices.add(one);
    readings.push_back(one);
  }
  Count count() const { return scaled(slices, readings); }
};

TEST(Slices, the_formula_where_all_are_of_one_length) {
  Observed seen;
  const double counts[] = {100, 120, 90, 110, 80};
  double mean = 0;
  for (const double one : counts) mean += one / 5;
  double squares = 0;
  for (const double one : counts) squares += (one - mean) * (one - mean);
  for (const double one : counts) {
    seen.add(ran(static_cast<std::int64_t>(one)));
    for (int i = 0; i < 3; ++i) seen.add(waited);
  }
  // N·s/√n·√(1 − n/N), twice, relative to the whole.
  const double n = 5, all = 20, error = all * std::sqrt(squares / (n - 1)) / std::sqrt(n) * std::sqrt(1 - n / all);
  EXPECT_DOUBLE_EQ(seen.slices.all(), all);
  EXPECT_NEAR(*seen.slices.error_percent(), 200 * error / (all * mean) + 100 / all, 1e-9);
}

TEST(Slices, of_a_steady_rate_one_slice_may_be_wrong_whatever_the_lengths) {
  Observed seen;
  for (std::int64_t i = 1; i <= 300; ++i) {
    seen.add({1000 * i, Nanoseconds{2000 * i}, Nanoseconds{2000 * i}});
    seen.add({0, Nanoseconds{2000 * i}, Nanoseconds{0}});
  }
  EXPECT_NEAR(*seen.count().error_percent, 100.0 / 600, 1e-6);
}

TEST(Slices, few_have_no_bound_and_some_are_approximate) {
  Observed seen;
  for (int i = 0; i < 10; ++i) {
    seen.add(ran(100 + i));
    seen.add(waited);
  }
  EXPECT_FALSE(seen.count().error_percent);
  EXPECT_EQ(seen.count().reason, "rough: from 10 of 20 slices");
  for (int i = 0; i < 100; ++i) {
    seen.add(ran(100 + i % 10));
    seen.add(waited);
  }
  EXPECT_TRUE(seen.count().error_percent);
  EXPECT_EQ(seen.count().reason, "approximate: from 110 of 220 slices");
  for (int i = 0; i < 200; ++i) {
    seen.add(ran(100 + i % 10));
    seen.add(waited);
  }
  EXPECT_EQ(seen.count().reason, "");
  for (int i = 0; i < 9000; ++i) seen.add(waited);
  EXPECT_FALSE(seen.count().error_percent) << "it ran for less than a tenth";
  EXPECT_EQ(with_error(counted(5, CountSource::pmu("cpu")), seen.slices), counted(5, CountSource::pmu("cpu")));
}

TEST(Slices, uneven_turns_have_no_bound) {
  const auto ran_for = [](int percent) {
    Observed seen;
    for (int i = 0; i < 1000; ++i) seen.add(i % 100 < percent ? ran(100 + i % 7) : waited);
    return seen;
  };
  const Observed often = ran_for(80), seldom = ran_for(30), between = ran_for(60);
  std::vector<Count> uneven{often.count(), seldom.count(), counted(7, Source::kernel)};
  for (Count& count : uneven) count.error_percent.reset();
  add_errors(uneven, {often.slices, seldom.slices, {}});
  EXPECT_FALSE(uneven[0].error_percent);
  EXPECT_EQ(uneven[1].reason, "rough: the turns were uneven, from 30 to 80 % of the time");
  EXPECT_EQ(uneven[2].reason, "");
  std::vector<Count> even{often.count(), between.count()};
  add_errors(even, {often.slices, between.slices});
  EXPECT_TRUE(even[0].error_percent);
  EXPECT_EQ(even[1].reason, "");
}

// The coverage that docs/guides/too-many-events.md promises, with pseudorandom numbers (xorshift64).
TEST(Slices, twice_the_standard_error_covers_the_truth) {
  std::uint64_t state = 88172645463325252;
  const auto uniform = [&] {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return static_cast<double>(state >> 11) / 9007199254740992.0;
  };
  const auto rate = [&] {
    double sum = 0;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return 10000 * (1 + 0.1 * (sum - 6));  // approximately normal
  };
  int covered = 0;
  constexpr int runs = 400;
  for (int run = 0; run < runs; ++run) {
    Observed seen;
    std::int64_t truth = 0;
    for (int slice = 0; slice < 600; ++slice) {
      const auto events = static_cast<std::int64_t>(rate());
      truth += events;
      seen.add(slice % 4 == 0 ? ran(events) : waited);
    }
    const Count count = seen.count();
    const double bound = *count.error_percent / 100 * static_cast<double>(*count.value);
    covered += std::abs(static_cast<double>(*count.value - truth)) <= bound ? 1 : 0;
  }
  EXPECT_GE(covered, runs * 90 / 100);
  EXPECT_LE(covered, runs * 99 / 100) << "a bound that is never passed says nothing";
}

}  // namespace
}  // namespace tally
