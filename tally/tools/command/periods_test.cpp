// "50k", "1ms": which numbers of events and which times an option accepts.
#include "tally/tools/command/periods.hpp"

#include <gtest/gtest.h>

namespace tally::command {
namespace {

event::Event event_of(const char* name) { return event::parse(name).value(); }

TEST(Period, has_a_unit_of_events_or_of_time) {
  const struct {
    const char* text;
    std::uint64_t number;
    bool is_time;
  } cases[] = {
      {"1", 1, false},
      {"50000", 50'000, false},
      {"50k", 50'000, false},
      {"2M", 2'000'000, false},
      {"1G", 1'000'000'000, false},
      {"5ns", 5, true},
      {"10us", 10'000, true},
      {"1ms", 1'000'000, true},
      {"3s", 3'000'000'000, true},
      {"1125899906842624", std::uint64_t{1} << 50, false},
      {"1125899G", 1'125'899'000'000'000, false},
  };
  for (const auto& one : cases) {
    const auto period = period_of(one.text, "--every");
    ASSERT_TRUE(period) << one.text;
    EXPECT_EQ(period->number, one.number) << one.text;
    EXPECT_EQ(period->is_time, one.is_time) << one.text;
  }
}

TEST(Period, is_not_below_1_nor_above_2_to_the_50) {
  for (const char* text : {"0", "0k", "-1", "1125899906842625", "1125900G", "9223372036854775807G", "2000000s", "0ms"})
    EXPECT_FALSE(period_of(text, "--every")) << text;
}

TEST(Period, has_no_other_form) {
  for (const char* text : {"", "k", "ms", "1.5k", "1 k", " 1", "1kk", "1kms", "1m", "1h", "1K", "0x10", "1e3"})
    EXPECT_FALSE(period_of(text, "--every")) << text;
  const auto refused = period_of("many\n", "--every");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::bad_usage);
  EXPECT_EQ(refused.error().message.find('\n'), std::string::npos);
  EXPECT_TRUE(refused.error().message.starts_with("--every many")) << refused.error().message;
}

TEST(CheckPeriod, takes_a_time_for_clocks_only) {
  const Period time{1'000'000, true};
  EXPECT_TRUE(check_period(time, event_of("task-clock"), "--every 1ms"));
  EXPECT_TRUE(check_period(time, event_of("cpu-clock"), "--every 1ms"));
  const auto refused = check_period(time, event_of("instructions"), "--every 1ms");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "--every 1ms is a time, but instructions does not count time");
  EXPECT_TRUE(check_period({1'000'000, false}, event_of("instructions"), "--every 1M"));
}

TEST(CheckPeriod, takes_no_time_below_10_us) {
  EXPECT_TRUE(check_period({10'000, true}, event_of("cpu-clock"), "--every 10us"));
  EXPECT_FALSE(check_period({9'999, true}, event_of("cpu-clock"), "--every 9999ns"));
  // The unit of a clock's events is the nanosecond.
  EXPECT_FALSE(check_period({9'999, false}, event_of("task-clock"), "--every 9999"));
  EXPECT_TRUE(check_period({1, false}, event_of("page-faults"), "--every 1"));
}

TEST(IsClock, is_of_events_that_count_time) {
  EXPECT_TRUE(event::is_clock(event_of("task-clock")));
  EXPECT_TRUE(event::is_clock(event_of("cpu-clock")));
  EXPECT_FALSE(event::is_clock(event_of("page-faults")));
}

}  // namespace
}  // namespace tally::command
