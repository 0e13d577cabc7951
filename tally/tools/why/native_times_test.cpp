// --native-times: which orders it refuses, and which counts it replaces.
#include "tally/tools/why/native_times.hpp"

#include <gtest/gtest.h>

#include "tally/core/base/holds_testing.hpp"
#include "tally/counting/backend/choose/choose_backend.hpp"
#include "tally/hardware/event/event.hpp"

namespace tally::why {
namespace {

measure::StatOptions order(const char* events) {
  measure::StatOptions options;
  options.target.command = {"true"};
  options.events = *event::parse_lists({events});
  return options;
}

// The message of the refusal by this backend; empty if the order is accepted.
std::string refusal(const measure::StatOptions& options, const char* name = "engine") {
  const auto choice = backend::choose(name, {.events = event::default_set()}, {});
  if (!choice) return choice.error().message;
  const auto checked = check_native_times(options, *choice->backend);
  if (checked) return "";
  EXPECT_EQ(checked.error().code, Code::bad_usage);
  EXPECT_NE(checked.error().hint, "");
  return checked.error().message;
}

TEST(NativeTimes, need_a_command_from_its_start_to_its_end) {
  measure::StatOptions attached = order("loads,duration_time");
  attached.target.attachment.processes = {1};
  EXPECT_TRUE(holds(refusal(attached), "running processes"));
  measure::StatOptions divided = order("loads,duration_time");
  divided.count()->timing.interval = std::chrono::milliseconds(10);
  EXPECT_TRUE(holds(refusal(divided), "-I"));
  EXPECT_TRUE(holds(refusal(order("loads,duration_time"), "none"), "needs the engine"));
}

#if TALLY_HAS_ENGINE
TEST(NativeTimes, need_an_event_that_a_native_run_counts) {
  EXPECT_EQ(refusal(order("loads,duration_time")), "");
  EXPECT_TRUE(holds(refusal(order("loads,stores")), "no time"));
}
#endif

result::EventCount event_count(Count count) {
  result::EventCount one;
  one.count = std::move(count);
  return one;
}

result::Stat result_of(std::vector<Count> counts) {
  result::Stat stat;
  stat.runs.emplace_back();
  for (Count& count : counts) {
    stat.runs.front().counts.push_back(event_count(count));
    stat.events.push_back({event_count(std::move(count)), {}});
  }
  return stat;
}

TEST(NativeTimes, replace_only_the_counts_of_the_native_run) {
  result::Stat stat = result_of({exact(7, Source::engine), partial(900, Source::clock, "under the engine")});
  replace_counts(stat, {1}, result_of({counted(300, Source::clock)}));
  EXPECT_EQ(stat.events[0].total.count, exact(7, Source::engine));
  Count expected = counted(300, Source::clock);
  expected.reason = "from a second, native run";
  EXPECT_EQ(stat.events[1].total.count, expected);
  EXPECT_EQ(stat.runs[0].counts[1].count, expected);
  EXPECT_EQ(stat.runs[0].counts[0].count, exact(7, Source::engine));
}

TEST(NativeTimes, keep_why_a_native_count_is_partial) {
  result::Stat stat = result_of({partial(9, Source::wait4, "includes the engine's overhead")});
  replace_counts(stat, {0}, result_of({partial(5, Source::wait4, "at most this")}));
  EXPECT_EQ(stat.events[0].total.count.reason, "at most this; from a second, native run");
}

}  // namespace
}  // namespace tally::why
