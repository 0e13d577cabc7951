#include "tally/core/count/correction.hpp"

#include <gtest/gtest.h>

namespace tally {
namespace {

// Measures a processor that adds `each` events for each fault, plus a disturbance.
constexpr std::int64_t work = 1000;
std::optional<std::int64_t> measured(std::int64_t each, std::int64_t disturbance = 0) {
  constexpr std::int64_t faults = 64;
  return added_by_each(work + each * faults + disturbance, work, faults);
}

TEST(Correction, each_fault_adds_cold_minus_warm_events) {
  EXPECT_EQ(measured(0), 0);
  EXPECT_EQ(measured(1), 1);
  EXPECT_EQ(measured(2), 2);
}

TEST(Correction, tolerates_an_interrupt_and_rejects_inconsistent_counts) {
  EXPECT_EQ(measured(1, 1), 1);
  EXPECT_EQ(measured(2, -3), 2);
  EXPECT_EQ(measured(1, 30), std::nullopt) << "neither one nor two each";
  EXPECT_EQ(measured(-1), std::nullopt);
  EXPECT_EQ(added_by_each(5, 5, 0), std::nullopt);
}

// The counts of the string benchmarks: 8 instructions, 246 page faults, an interrupt (accuracy of HPCTool's programs).
TEST(Correction, subtracts_faults_and_interrupts) {
  const auto one = correction_of(counted(8 + 246 + 1, CountSource::pmu("cpu")), 1, counted(246, Source::kernel),
                                 counted(1, CountSource::pmu("cpu")));
  ASSERT_TRUE(one);
  EXPECT_EQ(*one, (Correction{8, 1, 246, 1}));
  const auto two = correction_of(counted(8 + 2 * 247, CountSource::pmu("cpu")), 2, counted(246, Source::kernel),
                                 counted(1, CountSource::pmu("cpu")));
  ASSERT_TRUE(two);
  EXPECT_EQ(two->corrected, 8);
  EXPECT_EQ(
      correction_of(counted(8, CountSource::pmu("cpu")), 0, counted(246, Source::kernel), std::nullopt)->corrected, 8);
}

TEST(Correction, keeps_interrupts_that_were_not_counted) {
  const auto without =
      correction_of(counted(255, CountSource::pmu("cpu")), 1, counted(246, Source::kernel), std::nullopt);
  ASSERT_TRUE(without);
  EXPECT_EQ(without->corrected, 9);
  EXPECT_FALSE(without->interrupts);
  const Count shared = from_reading({10, Nanoseconds{8}, Nanoseconds{2}}, CountSource::pmu("cpu"));
  EXPECT_FALSE(
      correction_of(counted(255, CountSource::pmu("cpu")), 1, counted(246, Source::kernel), shared)->interrupts);
}

TEST(Correction, scaled_and_partial_counts_have_none) {
  const Count shared = from_reading({10, Nanoseconds{8}, Nanoseconds{2}}, CountSource::pmu("cpu"));
  EXPECT_FALSE(correction_of(shared, 1, counted(246, Source::kernel), std::nullopt));
  EXPECT_FALSE(
      correction_of(counted(255, CountSource::pmu("cpu")), 1, partial(2, Source::wait4, "not all"), std::nullopt));
  EXPECT_FALSE(correction_of(counted(255, CountSource::pmu("cpu")), 1, absent("refused"), std::nullopt));
}

Count corrected(std::int64_t raw, std::int64_t each, std::int64_t faults, std::optional<std::int64_t> interrupts) {
  Count count = counted(raw, CountSource::pmu("cpu"));
  count.correction = Correction{raw - each * (faults + interrupts.value_or(0)), each, faults, interrupts};
  return count;
}

TEST(Correction, a_series_has_the_medians) {
  const auto median =
      median_correction({corrected(258, 1, 246, 4), corrected(255, 1, 246, 1), corrected(256, 1, 247, 1)});
  ASSERT_TRUE(median);
  EXPECT_EQ(*median, (Correction{8, 1, 246, 1}));
  EXPECT_FALSE(median_correction({corrected(258, 1, 246, 4), counted(255, CountSource::pmu("cpu"))}));
  EXPECT_FALSE(median_correction({corrected(258, 1, 246, 4), corrected(258, 2, 246, 4)}));
  EXPECT_FALSE(median_correction({corrected(258, 1, 246, 4), corrected(258, 1, 246, std::nullopt)}));
  EXPECT_FALSE(median_correction({}));
}

}  // namespace
}  // namespace tally
