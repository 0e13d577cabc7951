#include "tally/core/count/count.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace tally {
namespace {

using std::chrono::milliseconds;

constexpr Trust all[] = {Trust::exact,     Trust::counted,  Trust::scaled,  Trust::sampled,
                         Trust::estimated, Trust::modelled, Trust::partial, Trust::absent};

TEST(Trust, worst_is_the_less_reliable_of_every_pair) {
  for (const Trust a : all) {
    for (const Trust b : all) {
      EXPECT_EQ(worst(a, b), worst(b, a));
      EXPECT_TRUE(worst(a, b) == a || worst(a, b) == b);
    }
    EXPECT_EQ(worst(a, Trust::exact), a);
    EXPECT_EQ(worst(a, Trust::absent), Trust::absent);
  }
  EXPECT_EQ(worst(Trust::counted, Trust::scaled), Trust::scaled);
  EXPECT_EQ(worst(Trust::modelled, Trust::scaled), Trust::modelled);
  EXPECT_EQ(worst(Trust::modelled, Trust::partial), Trust::partial);
}

TEST(Trust, names_parse_to_their_trust) {
  for (const Trust trust : all) EXPECT_EQ(trust_of(name(trust)), trust);
  EXPECT_EQ(name(Trust::modelled), "modelled");
  EXPECT_FALSE(trust_of("perfect"));
}

TEST(Count, is_absent_until_something_was_counted) {
  EXPECT_EQ(Count{}.trust, Trust::absent);
  EXPECT_FALSE(Count{}.value);
}

TEST(Count, sum_has_the_worse_trust_and_both_reasons) {
  const Count sum = exact(3, Source::engine) + partial(4, Source::wait4, "includes the engine's");
  EXPECT_EQ(sum.value, 7);
  EXPECT_EQ(sum.trust, Trust::partial);
  EXPECT_EQ(sum.reason, "includes the engine's");
  EXPECT_EQ(sum.source, parse_source("engine, wait4"));
}

TEST(Count, absent_is_never_taken_for_zero) {
  const Count there = exact(3, Source::engine);
  const Count missing = absent("no counter");
  for (const Count& count : {there + missing, missing + there, there - missing, missing - there}) {
    EXPECT_FALSE(count.value);
    EXPECT_EQ(count.trust, Trust::absent);
    EXPECT_EQ(count.reason, "no counter");
  }
  const Count sum = partial(1, Source::wait4, "mixed") + missing;
  EXPECT_EQ(sum.reason, "no counter") << "a reason of the side that has a number does not explain the absence";
}

TEST(Count, difference_is_signed) {
  const Count difference = counted(3, Source::wait4) - counted(10, Source::wait4);
  EXPECT_EQ(difference.value, -7);
  EXPECT_EQ(difference.trust, Trust::counted);
  EXPECT_EQ(difference.source, Source::wait4);
}

TEST(Count, overflow_is_absent_not_wrapped) {
  const Count huge = exact(std::numeric_limits<std::int64_t>::max(), Source::engine);
  EXPECT_EQ((huge + exact(1, Source::engine)).trust, Trust::absent);
  EXPECT_FALSE((huge + exact(1, Source::engine)).value);
  EXPECT_FALSE((exact(-2, Source::engine) - huge).value);
  EXPECT_EQ((huge + exact(0, Source::engine)).value, huge.value);
}

TEST(Count, downgrade_never_improves) {
  const Count count = downgraded(exact(5, Source::engine), Trust::partial, "one process ran natively");
  EXPECT_EQ(count.value, 5);
  EXPECT_EQ(count.trust, Trust::partial);
  EXPECT_EQ(count.reason, "one process ran natively");
  EXPECT_EQ(downgraded(count, Trust::exact, "").trust, Trust::partial);
  EXPECT_EQ(downgraded(absent("why"), Trust::partial, "other"), absent("why"));
  EXPECT_FALSE(downgraded(count, Trust::absent, "lost").value);
}

TEST(Reading, that_ran_all_the_time_is_counted) {
  const Count count = from_reading({100, milliseconds(8), milliseconds(8)}, CountSource::pmu("cpu"));
  EXPECT_EQ(count.value, 100);
  EXPECT_EQ(count.trust, Trust::counted);
  EXPECT_EQ(running_percent(count), 100.0);
}

TEST(Reading, that_was_multiplexed_is_scaled_and_keeps_its_raw_value) {
  const Count count = from_reading({100, milliseconds(8), milliseconds(3)}, CountSource::pmu("cpu"));
  EXPECT_EQ(count.value, 267);
  EXPECT_EQ(count.trust, Trust::scaled);
  EXPECT_EQ(count.reading->raw, 100);
  EXPECT_EQ(running_percent(count), 37.5);
  EXPECT_FALSE(count.error_percent) << "no bound is claimed where no slices were read";
}

TEST(Reading, that_never_ran_is_absent) {
  const Count count = from_reading({0, milliseconds(8), milliseconds(0)}, CountSource::pmu("cpu"));
  EXPECT_FALSE(count.value);
  EXPECT_EQ(count.trust, Trust::absent);
  EXPECT_EQ(running_percent(count), 0.0);
}

TEST(Reading, scaled_beyond_64_bits_is_absent) {
  EXPECT_FALSE(
      from_reading({std::int64_t{1} << 62, milliseconds(1000), milliseconds(1)}, CountSource::pmu("cpu")).value);
}

TEST(Reading, differences_are_taken_field_by_field) {
  const Reading later{100, milliseconds(8), milliseconds(6)};
  const Reading earlier{40, milliseconds(2), milliseconds(2)};
  EXPECT_EQ(later - earlier, (Reading{60, milliseconds(6), milliseconds(4)}));
}

TEST(Ratio, is_as_trustworthy_as_its_worse_part) {
  const Ratio half = ratio(exact(1, Source::engine), counted(2, CountSource::pmu("cpu")));
  EXPECT_EQ(half.value, 0.5);
  EXPECT_EQ(half.trust, Trust::counted);
}

TEST(Ratio, with_a_zero_denominator_is_absent) {
  EXPECT_EQ(ratio(exact(1, Source::engine), exact(0, Source::engine)).trust, Trust::absent);
  EXPECT_FALSE(ratio(exact(1, Source::engine), exact(0, Source::engine)).value);
  EXPECT_EQ(ratio(absent("no counter"), exact(2, Source::engine)).reason, "no counter");
  EXPECT_EQ(ratio(exact(2, Source::engine), absent("no counter")).reason, "no counter");
}

}  // namespace
}  // namespace tally
