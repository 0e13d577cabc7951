#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "programs/discovery/analysis/analyse.hpp"
#include "programs/discovery/analysis/linear.hpp"
#include "programs/discovery/analysis/robust.hpp"
#include "programs/discovery/analysis/steps.hpp"

namespace tally::discover {
namespace {

TEST(Robust, middle_and_spread) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
  EXPECT_EQ(median({}), 0);
  EXPECT_NEAR(spread({1, 2, 3, 4, 1000}), 1.4826, 1e-9);
}

TEST(Robust, a_line_through_points_of_which_one_is_wild) {
  const Line line = theil_sen({1, 2, 4, 8, 16}, {5, 7, 11, 1000, 35});
  EXPECT_EQ(line.slope, 2);
  EXPECT_EQ(line.intercept, 3);
}

// Tables of Student's t, two-sided 99 %.
TEST(Robust, quantiles_are_those_of_the_tables) {
  EXPECT_NEAR(t99(6), 3.707, 0.02);
  EXPECT_NEAR(t99(10), 3.169, 0.01);
  EXPECT_NEAR(t99(1000), 2.581, 0.001);
  EXPECT_NEAR(t_above(3.707, 6), 0.005, 0.0002);
  EXPECT_NEAR(above(1.96), 0.025, 0.0001);
}

// The example of Benjamini and Hochberg 1995, section 4.2: 15 values, of which q = 0.05 rejects four.
TEST(Robust, false_discoveries_are_held_as_published) {
  const std::vector<double> p{0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
                              0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000};
  const auto rejected = benjamini_hochberg(p, 0.05);
  EXPECT_EQ(std::count(rejected.begin(), rejected.end(), true), 4);
  EXPECT_TRUE(rejected[3]);
  EXPECT_FALSE(rejected[4]);
}

TEST(Linear, no_weight_is_negative) {
  const Matrix a{{1, 0}, {0, 1}, {1, 1}};
  const auto plain = nnls(a, {1, 2, 3});
  EXPECT_NEAR(plain[0], 1, 1e-9);
  EXPECT_NEAR(plain[1], 2, 1e-9);
  const auto held = nnls(a, {2, -1, 1});
  EXPECT_NEAR(held[0], 1.5, 1e-9);
  EXPECT_EQ(held[1], 0);
}

TEST(Linear, columns_that_depend_on_others_do_not_count) {
  const Independence all = independence({{1, 0, 1, 0}, {0, 1, 1, 0}, {0, 0, 0, 0}});
  EXPECT_EQ(all.rank, 2);
  EXPECT_NEAR(independence({{1, 0}, {0, 7}}).condition, 1, 1e-9);
}

TEST(Wrapped, counts_that_begin_again_from_0_are_known) {
  EXPECT_EQ(wrapped_at({1, 2, 4, 8}, {100, 200, 400, 800}), std::nullopt);
  const auto modulo = [](double x) { return std::fmod(x, 65536); };
  EXPECT_EQ(wrapped_at({1, 2, 4, 8}, {modulo(30000), modulo(60000), modulo(120000), modulo(240000)}), 16);
}

// Two payloads, the second with twice as many loads; the event counts 1 and 2.12 for each copy.
Record uneven_loads() {
  Record record;
  record.events = {0xD0};
  record.counters = 1;
  record.repeats = 4;
  record.sizes = {1000, 2000, 4000, 8000};
  record.payloads = {{"empty", "", ""}, {"load", "empty", "loads"}, {"two-loads", "load", "loads"}};
  const double instructions[] = {1, 2, 6}, loads[] = {0, 1, 2}, counts[] = {0, 1, 2.12};
  for (std::size_t payload = 0; payload < std::size(counts); ++payload) {
    record.payloads[payload].composition[*result::coordinate_of("instructions")] = instructions[payload];
    record.payloads[payload].composition[*result::coordinate_of("loads")] = loads[payload];
    for (const auto stage : {Run::Stage::screen, Run::Stage::slopes}) {
      for (int repeat = 0; repeat < (stage == Run::Stage::screen ? 1 : record.repeats); ++repeat) {
        for (std::size_t size = 0; size < record.sizes.size(); ++size) {
          const auto copies = static_cast<double>(record.sizes[size]);
          Run run{.stage = stage, .payload = payload, .size = size, .repeat = repeat};
          run.instructions = std::llround(copies * instructions[payload]);
          run.cells = {{0, 0, std::llround(copies * counts[payload])}};
          record.runs.push_back(run);
        }
      }
    }
  }
  return record;
}

TEST(Analyse, a_name_fits_within_the_tolerance_and_a_wide_one_is_reported) {
  const result::Discovery usual = analyse(uneven_loads(), {});
  ASSERT_EQ(usual.events.size(), 1u);
  EXPECT_EQ(usual.events[0].kind, result::EventClass::unexplained);
  EXPECT_TRUE(usual.notices.empty());
  const result::Discovery wide = analyse(uneven_loads(), {}, {.share = 0.1});
  ASSERT_EQ(wide.events[0].terms.size(), 1u);
  EXPECT_EQ(wide.events[0].terms[0].coordinate, "loads");
  ASSERT_EQ(wide.notices.size(), 1u);
  EXPECT_NE(wide.notices[0].find("10.0 %"), std::string::npos) << wide.notices[0];
}

}  // namespace
}  // namespace tally::discover
