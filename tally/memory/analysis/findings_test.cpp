// From curves to what is claimed of them.
#include "tally/memory/analysis/findings.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tally/memory/analysis/simulated_testing.hpp"

namespace tally::memory {
namespace {

constexpr double kib = 1024;
constexpr double mib = 1024 * kib;

// Three levels of 48 K, 2 M and 32 M, and translations of 96 pages: 384 K. Two percent of noise.
Curve machine(Random& random) {
  Curve curve;
  for (const std::uint64_t bytes : size_grid(4096, 256 << 20, 8, 64)) {
    const auto size = static_cast<double>(bytes);
    double ns = 1.2;
    if (size > 48 * kib) ns += 2.8;
    if (size > 96 * 4096) ns += 1.7;
    if (size > 2 * mib) ns += 32;
    if (size > 32 * mib) ns += 120;
    CurvePoint point{size, ns * noise(random, 0.02 / 3), false, {}};
    for (int mapping = 0; mapping < 3; ++mapping) {
      std::vector<double> batches;
      for (int i = 0; i < 10; ++i) batches.push_back(ns * noise(random, 0.02));
      point.mappings.push_back(std::move(batches));
    }
    curve.push_back(std::move(point));
  }
  return curve;
}

Witnesses known() {
  Witnesses witnesses;
  witnesses.reported = {{1, 48 << 10, false}, {2, 2 << 20, false}, {3, 480 << 20, true}};
  witnesses.first_level = Geometry{12, 64, 48 << 10, ""};
  witnesses.line_bytes = 64;
  witnesses.ghz = 4;
  return witnesses;
}

TEST(Levels, of_a_machine_with_a_step_that_is_none) {
  Random random(1);
  const Curve curve = machine(random);
  const auto plateaus = find_plateaus(curve);
  ASSERT_EQ(plateaus.size(), 5u);
  const auto spans = join_spans(plateaus, {true, false, true, true});
  ASSERT_EQ(spans.size(), 4u) << "the step of translations is dismissed";
  const auto levels = find_levels(curve, spans, known());
  ASSERT_EQ(levels.size(), 4u);
  EXPECT_EQ(levels[0].name, "L1d");
  EXPECT_TRUE(levels[0].snapped);
  EXPECT_EQ(levels[0].grade, result::Grade::high) << levels[0].because;
  EXPECT_EQ(levels[0].ways, 12);
  EXPECT_EQ(levels[0].sets, 64);
  EXPECT_EQ(levels[0].line_bytes, 64);
  EXPECT_NEAR(levels[0].ns, 1.2, 0.024);
  EXPECT_NEAR(*levels[0].cycles, 4.8, 0.1);
  EXPECT_EQ(levels[1].name, "L2");
  EXPECT_TRUE(levels[1].snapped);
  EXPECT_NEAR(*levels[1].capacity_bytes, 2 * mib, 0.09 * 2 * mib);
  EXPECT_NEAR(levels[1].ns, 4, 0.08) << "without the translations";
  EXPECT_EQ(levels[1].grade, result::Grade::medium) << "there is no second witness";
  EXPECT_EQ(levels[2].name, "LLC");
  EXPECT_FALSE(levels[2].snapped) << "a shared level is never snapped";
  EXPECT_TRUE(levels[2].effective);
  EXPECT_EQ(levels[2].reported_bytes, 480 << 20);
  EXPECT_EQ(levels[2].grade, result::Grade::low);
  EXPECT_FALSE(levels[3].capacity_bytes);
}

TEST(Levels, end_where_the_machine_was_busy) {
  Random random(1);
  Curve curve = machine(random);
  EXPECT_FALSE(sound_limit(curve));
  for (CurvePoint& point : curve) point.flagged = point.size_bytes > 4 * mib;
  const auto sound = sound_limit(curve);
  ASSERT_TRUE(sound);
  EXPECT_GT(*sound, 4 * mib);
  EXPECT_LT(*sound, 10 * mib);
  Witnesses witnesses = known();
  witnesses.sound_up_to = *sound;
  const Curve quiet = machine(random);
  const auto levels = find_levels(quiet, join_spans(find_plateaus(quiet), {true, false, true, true}), witnesses);
  ASSERT_EQ(levels.size(), 2u);
  EXPECT_EQ(levels[1].name, "L2");
}

TEST(Levels, rejected_batches_lower_the_grade) {
  Random random(1);
  const Curve curve = machine(random);
  Witnesses witnesses = known();
  witnesses.rejected_share = 0.12;
  const auto levels = find_levels(curve, join_spans(find_plateaus(curve), {true, false, true, true}), witnesses);
  EXPECT_EQ(levels[0].grade, result::Grade::low);
  EXPECT_NE(levels[0].because.find("12 % of the batches rejected"), std::string::npos);
  EXPECT_TRUE(levels[0].effective);
}

TEST(Levels, a_capacity_far_from_what_is_reported_is_not_that) {
  Random random(1);
  const Curve curve = machine(random);
  Witnesses witnesses = known();
  witnesses.reported = {{1, 32 << 10, false}, {2, 512 << 10, false}};
  const auto levels = find_levels(curve, join_spans(find_plateaus(curve), {true, false, true, true}), witnesses);
  EXPECT_FALSE(levels[0].snapped) << "48 K is no 32 K";
  EXPECT_EQ(levels[0].reported_bytes, 32 << 10);
  EXPECT_FALSE(levels[1].reported_bytes);
  EXPECT_EQ(levels[1].name, "level 2");
}

}  // namespace
}  // namespace tally::memory
