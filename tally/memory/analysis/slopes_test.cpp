// Rises made from their own law: what they were made of comes out again.
#include "tally/memory/analysis/slopes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <vector>

#include "tally/memory/analysis/levels.hpp"
#include "tally/memory/analysis/shape.hpp"

namespace tally::memory {
namespace {

constexpr double mib = 1 << 20;
const RiseSurroundings around{3.8, 4096, 72 * 4096};

// t = below + translation + m·(miss + drain·R·t), solved for t.
std::vector<Timing> made_of(const SlopingRise& rise) {
  std::vector<Timing> timings;
  for (const std::uint64_t size : size_grid(256 << 10, 4 << 20, 8, 64)) {
    const auto bytes = static_cast<double>(size);
    const double missed = misses_colours(bytes / 4096, rise.capacity_bytes / rise.ways / 4096, rise.ways);
    const double translated = around.below_ns + rise.translation_ns * std::max(0.0, 1 - around.reach_bytes / bytes);
    timings.push_back({bytes, (translated + missed * rise.miss_ns) / (1 - missed * rise.drain * bytes)});
  }
  return timings;
}

TEST(Slopes, give_back_what_a_rise_was_made_of) {
  const SlopingRise made{mib, 8, 2.2, 6, 0.05 / mib, 0};
  const auto found = fit_slopes(made_of(made), around);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->capacity_bytes, mib, 0.01 * mib);
  EXPECT_EQ(found->ways, 8);
  EXPECT_NEAR(found->translation_ns, 2.2, 0.1);
  EXPECT_NEAR(found->miss_ns, 6, 0.2);
  EXPECT_NEAR(found->drain * mib, 0.05, 0.005);
  EXPECT_LT(found->error, 0.01);
  const auto again = fit_slopes_again(*found, made_of(made), around);
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, *found);
}

TEST(Slopes, that_are_not_there_are_none) {
  const auto found = fit_slopes(made_of({mib, 16, 0, 30, 0, 0}), around);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->capacity_bytes, mib, 0.01 * mib);
  EXPECT_EQ(found->ways, 16);
  EXPECT_NEAR(found->translation_ns, 0, 0.1);
  EXPECT_NEAR(found->miss_ns, 30, 0.3);
  EXPECT_NEAR(found->drain * mib, 0, 0.005);
}

// A curve that falls behind its rise, as one that was disturbed on the way: no neighbour gives lines back.
TEST(Slopes, are_never_negative) {
  auto timings = made_of({mib, 8, 0, 6, 0, 0});
  for (Timing& one : timings) {
    if (one.size_bytes > 2 * mib) one.ns *= 0.8;
  }
  const auto found = fit_slopes(timings, around);
  ASSERT_TRUE(found);
  EXPECT_GE(found->translation_ns, 0);
  EXPECT_EQ(found->drain, 0);
}

TEST(Slopes, of_too_few_timings_and_of_none_that_rise_are_not_told) {
  EXPECT_FALSE(fit_slopes({}, around));
  const auto enough = made_of({mib, 8, 2.2, 6, 0, 0});
  EXPECT_TRUE(fit_slopes(std::span(enough).subspan(14, 6), around));
  EXPECT_FALSE(fit_slopes(std::span(enough).subspan(14, 5), around));
  std::vector<Timing> flat;
  for (const std::uint64_t size : size_grid(256 << 10, 4 << 20, 8, 64)) {
    flat.push_back({static_cast<double>(size), around.below_ns});
  }
  EXPECT_FALSE(fit_slopes(flat, around));
}

}  // namespace
}  // namespace tally::memory
