// Tests that the fit of a rise recovers the parameters that the rise was generated from.
#include "programs/memory/analysis/slopes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "programs/memory/analysis/levels.hpp"
#include "programs/memory/analysis/shape.hpp"
#include "programs/memory/analysis/sizes_testing.hpp"
#include "programs/memory/statistics/seeded_random.hpp"

namespace tally::memory {
namespace {

const RiseSurroundings around{3.8, 4096, {72 * 4096, 0}};

// t = below + translation + m·(miss + drain·R·t), solved for t.
std::vector<Timing> made_of(const SlopingRise& rise, int per_octave = 8) {
  std::vector<Timing> timings;
  for (const std::uint64_t size : size_grid(256 << 10, 4 << 20, per_octave, 64)) {
    const auto bytes = static_cast<double>(size);
    const double missed = misses_of(rise.mixture, bytes, rise.capacity_bytes, rise.ways, 4096);
    const double translated =
        around.below_ns + rise.translation_ns * std::max(0.0, 1 - around.translations.reach_bytes / bytes);
    timings.push_back({bytes, (translated + missed * rise.miss_ns) / (1 - missed * rise.drain * bytes)});
  }
  return timings;
}

TEST(Slopes, recover_the_parameters_of_a_rise) {
  const SlopingRise made{mib, 8, 2.2, 6, 0.05 / mib, {}, 0};
  const auto found = fit_slopes(made_of(made), around);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->capacity_bytes, mib, 0.01 * mib);
  EXPECT_EQ(found->ways, 8);
  EXPECT_NEAR(found->translation_ns, 2.2, 0.1);
  EXPECT_NEAR(found->miss_ns, 6, 0.2);
  EXPECT_NEAR(found->drain * mib, 0.05, 0.005);
  EXPECT_LT(found->error, 0.01);
}

TEST(Slopes, are_empty_without_slopes) {
  const auto found = fit_slopes(made_of({mib, 16, 0, 30, 0, {}, 0}), around);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->capacity_bytes, mib, 0.01 * mib);
  EXPECT_EQ(found->ways, 16);
  EXPECT_NEAR(found->translation_ns, 0, 0.1);
  EXPECT_NEAR(found->miss_ns, 30, 0.3);
  EXPECT_NEAR(found->drain * mib, 0, 0.005);
}

// A curve that falls after its rise because it was disturbed: other cores never add lines.
TEST(Slopes, are_never_negative) {
  auto timings = made_of({mib, 8, 0, 6, 0, {}, 0});
  for (Timing& one : timings) {
    if (one.size_bytes > 2 * mib) one.ns *= 0.8;
  }
  const auto found = fit_slopes(timings, around);
  ASSERT_TRUE(found);
  EXPECT_GE(found->translation_ns, 0);
  EXPECT_EQ(found->drain, 0);
}

// Half an octave after the cache, evictions by other cores look nearly like a smaller cache with more of them.
TEST(Slopes, with_scatter_and_early_end_hardly_bias_the_capacity) {
  Random random(1);
  double sum = 0;
  constexpr int cases = 40;
  for (int i = 0; i < cases; ++i) {
    auto timings = made_of({mib, 8, 2.2, 6, 0.06 / mib, {}, 0});
    std::erase_if(timings, [](const Timing& one) { return one.size_bytes > 2 * mib; });
    for (Timing& one : timings) {
      double normal = -6;
      for (int k = 0; k < 12; ++k) normal += random.unit();
      one.ns *= 1 + 0.025 * normal;
    }
    const auto found = fit_slopes(timings, around);
    ASSERT_TRUE(found);
    sum += found->capacity_bytes / mib;
  }
  EXPECT_NEAR(sum / cases, 1, 0.04);
}

TEST(Slopes, use_contiguous_frames_if_these_fit_better) {
  for (const double contiguous : {0.5, 1.0}) {
    const auto timings = made_of({mib, 8, 1.9, 6, 0.05 / mib, {contiguous, 0}, 0}, 32);
    const auto found = fit_slopes(timings, {3.8, 4096, {72 * 4096, 1.9}});
    ASSERT_TRUE(found);
    EXPECT_NEAR(found->capacity_bytes, mib, 0.02 * mib);
    EXPECT_EQ(found->mixture, (Mixture{contiguous, 0}));
  }
}

TEST(Slopes, use_no_contiguous_frames_if_there_are_none) {
  const auto timings = made_of({mib, 8, 0, 6, 0, {1, 0}, 0});
  ASSERT_EQ(fit_slopes(timings, around)->mixture.contiguous, 1);
  RiseSurroundings scattered = around;
  scattered.contiguous = false;
  const auto found = fit_slopes(timings, scattered);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->mixture.contiguous, 0);
}

TEST(Slopes, use_random_replacement_if_it_fits_better) {
  for (const double random : {0.5, 1.0}) {
    const auto timings = made_of({mib, 16, 1.9, 6, 0.01 / mib, {0, random}, 0}, 32);
    const auto found = fit_slopes(timings, {3.8, 4096, {72 * 4096, 1.9}});
    ASSERT_TRUE(found);
    EXPECT_NEAR(found->capacity_bytes, mib, 0.02 * mib);
    EXPECT_EQ(found->mixture, (Mixture{0, random}));
    EXPECT_EQ(found->least_bytes, found->capacity_bytes);
  }
}

// The known cost of a missed translation is used, although another would fit better.
TEST(Slopes, use_the_known_cost_of_translations) {
  const auto timings = made_of({mib, 8, 2.2, 6, 0.05 / mib, {}, 0});
  const auto right = fit_slopes(timings, {3.8, 4096, {72 * 4096, 2.2}});
  ASSERT_TRUE(right);
  EXPECT_NEAR(right->capacity_bytes, mib, 0.01 * mib);
  EXPECT_EQ(right->translation_ns, 2.2);
  EXPECT_NEAR(right->miss_ns, 6, 0.1);
  EXPECT_LT(right->error, 0.01);
  const auto wrong = fit_slopes(timings, {3.8, 4096, {72 * 4096, 1.2}});
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->translation_ns, 1.2);
  EXPECT_GT(wrong->error, 0.01);
}

// As if something else ran for a while.
TEST(Slopes, ignore_a_disturbed_size) {
  const auto timings = made_of({mib, 8, 2.2, 6, 0.05 / mib, {}, 0});
  for (std::size_t i = 0; i < timings.size(); ++i) {
    auto disturbed = timings;
    disturbed[i].ns *= 1.3;
    const auto found = fit_slopes(disturbed, around);
    ASSERT_TRUE(found);
    EXPECT_NEAR(found->capacity_bytes, mib, 0.03 * mib) << timings[i].size_bytes;
  }
}

// All sizes are larger than the cache, or all are smaller.
TEST(Slopes, are_empty_if_the_cache_is_not_among_the_sizes) {
  auto beyond = made_of({mib / 8, 8, 0, 6, 0.02 / mib, {}, 0});
  EXPECT_FALSE(fit_slopes(beyond, around));
  auto before = made_of({32 * mib, 8, 0, 6, 0, {}, 0});
  EXPECT_FALSE(fit_slopes(before, around));
}

TEST(Slopes, are_empty_for_few_or_flat_timings) {
  EXPECT_FALSE(fit_slopes({}, around));
  const auto enough = made_of({mib, 8, 2.2, 6, 0, {}, 0});
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
