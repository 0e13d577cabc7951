#include "programs/memory/analysis/dismissal.hpp"

#include <gtest/gtest.h>

#include "programs/memory/analysis/levels.hpp"

namespace tally::memory {
namespace {

TEST(Dismissal, a_translation_step_vanishes_by_page) {
  EXPECT_TRUE(rises({4.06, 5.32}));
  EXPECT_TRUE(goes_away_by_page({4.01, 4.11}, 4.06));
}

// A cache of 64 K, with 4 ns that become 20 and 36 at 64 K and 160 K; or one for which pairs of lines are fetched.
Curve curve_by(double (*misses)(double x)) {
  Curve curve;
  for (const std::uint64_t size : size_grid(4096, 2 << 20, 8, 64)) {
    const auto bytes = static_cast<double>(size);
    curve.push_back({bytes, 4 + 32 * misses(bytes / 65536), false});
  }
  return curve;
}

TEST(Dismissal, line_pairs_are_not_a_level) {
  const auto judged = [](double (*misses)(double)) {
    const Curve curve = curve_by(misses);
    const auto plateaus = find_plateaus(curve);
    Plateau middle = plateaus[plateaus.size() / 2];
    if (plateaus.size() == 2) middle.ns = 20;
    return is_of_prefetchers(curve, plateaus.front(), middle, plateaus.back(), 4096);
  };
  EXPECT_TRUE(judged(misses_line_pair));
  EXPECT_FALSE(judged([](double x) { return x <= 1 ? 0 : x <= 2.5 ? 0.5 : 1; }));
  EXPECT_FALSE(judged([](double x) { return x <= 1 ? 0.0 : 1.0; }));
}

// As on a virtual machine (Zen 5): 3.3 ns of the second level, 12 of the last one, 150 of memory, whose rise is smooth.
TEST(Dismissal, a_level_far_below_half_way_is_not_line_pairs) {
  Curve curve = curve_by(misses_line_pair);
  const auto plateaus = find_plateaus(curve);
  Plateau low = plateaus[plateaus.size() / 2];
  low.ns = 7;
  EXPECT_FALSE(is_of_prefetchers(curve, plateaus.front(), low, plateaus.back(), 4096));
}

TEST(Dismissal, a_cache_step_remains) {
  EXPECT_FALSE(goes_away_by_page({1.08, 2.4}, 1.08));
  // Prefetchers make both sides of a later step faster.
  EXPECT_FALSE(goes_away_by_page({7, 16}, 14.4));
}

// As seen on a virtual machine: for a moment others used the whole last level, so both sides were in memory.
TEST(Dismissal, a_level_used_by_others_is_not_a_translation_step) { EXPECT_FALSE(goes_away_by_page({62, 65}, 15.5)); }

// Another thread of the core uses a part of the first level: the last size of its plateau is as slow as the next one.
TEST(Dismissal, plateaus_are_walked_in_the_middle) {
  const Curve curve{{4096, 1, false}, {8192, 1, false}, {16384, 1, false}, {65536, 1, false}};
  EXPECT_DOUBLE_EQ(middle_bytes(curve, {0, 3, 1}), 16384);
  EXPECT_DOUBLE_EQ(middle_bytes(curve, {0, 2, 1}), 8192);
}

}  // namespace
}  // namespace tally::memory
