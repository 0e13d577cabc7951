// --native: which orders it refuses, and which counts it replaces.
#include "tally/tools/why/native_run.hpp"

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
  const auto checked = check_native(options, *choice->backend);
  if (checked) return "";
  EXPECT_EQ(checked.error().code, Code::bad_usage);
  EXPECT_NE(checked.error().hint, "");
  return checked.error().message;
}

TEST(NativeRun, need_a_command_from_its_start_to_its_end) {
  measure::StatOptions attached = order("loads,duration_time");
  attached.target.attachment.processes = {1};
  EXPECT_TRUE(holds(refusal(attached), "running processes"));
  measure::StatOptions divided = order("loads,duration_time");
  divided.count()->timing.interval = std::chrono::milliseconds(10);
  EXPECT_TRUE(holds(refusal(divided), "-I"));
  EXPECT_TRUE(holds(refusal(order("loads,duration_time"), "none"), "without the engine"));
}

#if TALLY_HAS_ENGINE
TEST(NativeRun, fits_every_order_of_a_command_under_the_engine) {
  EXPECT_EQ(refusal(order("loads,duration_time")), "");
  EXPECT_EQ(refusal(order("loads,stores")), "");
}
#endif

TEST(NativeRun, estimates_cycles_from_time_and_frequency) {
  using std::chrono::milliseconds;
  const linux::MeasuredFrequency steady{4e9, 3.9e9, 4.1e9, 0.005};
  const Count count = estimated_cycles({milliseconds(200), milliseconds(50)}, steady);
  EXPECT_EQ(count.value, 1'000'000'000);
  EXPECT_EQ(count.trust, Trust::estimated);
  EXPECT_DOUBLE_EQ(*count.error_percent, 5.9);
  EXPECT_EQ(count.reason, "0.25 s × 4.00 GHz, natively, in user and kernel mode (20 % in the kernel, by clock ticks)");
  EXPECT_EQ(estimated_cycles({milliseconds(50), milliseconds(0), 5}, steady).value, 200'000'000);
}

TEST(NativeRun, estimates_no_cycles_of_short_runs_or_unsteady_frequencies) {
  using std::chrono::milliseconds;
  const linux::MeasuredFrequency steady_4_ghz{4e9, 4e9, 4e9, 0};
  const linux::MeasuredFrequency unsteady{3e9, 2e9, 4e9, 0.2};
  EXPECT_EQ(estimated_cycles({milliseconds(300), milliseconds(0)}, {}).trust, Trust::absent);
  const Count noisy = estimated_cycles({milliseconds(300), milliseconds(0)}, unsteady);
  EXPECT_EQ(noisy.trust, Trust::absent);
  EXPECT_TRUE(holds(noisy.reason, "2.00 to 4.00 GHz")) << noisy.reason;
  const Count brief = estimated_cycles({milliseconds(10), milliseconds(0), 3}, steady_4_ghz);
  EXPECT_EQ(brief.trust, Trust::absent);
  EXPECT_TRUE(holds(brief.reason, "needs 0.2 s")) << brief.reason;
  EXPECT_TRUE(
      holds(estimated_cycles({milliseconds(2), milliseconds(1), 400}, steady_4_ghz).reason, "start of a process"));
}

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

TEST(NativeRun, replace_only_the_counts_of_the_native_run) {
  result::Stat stat = result_of({exact(7, Source::engine), partial(900, Source::clock, "under the engine")});
  replace_counts(stat, {1}, result_of({counted(300, Source::clock)}));
  EXPECT_EQ(stat.events[0].total.count, exact(7, Source::engine));
  Count expected = counted(300, Source::clock);
  expected.reason = "from a native run";
  EXPECT_EQ(stat.events[1].total.count, expected);
  EXPECT_EQ(stat.runs[0].counts[1].count, expected);
  EXPECT_EQ(stat.runs[0].counts[0].count, exact(7, Source::engine));
}

TEST(NativeRun, keep_why_a_native_count_is_partial) {
  result::Stat stat = result_of({partial(9, Source::wait4, "includes the engine's overhead")});
  replace_counts(stat, {0}, result_of({partial(5, Source::wait4, "at most this")}));
  EXPECT_EQ(stat.events[0].total.count.reason, "at most this; from a native run");
}

}  // namespace
}  // namespace tally::why
