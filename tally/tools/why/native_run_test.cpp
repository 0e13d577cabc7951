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
  const linux::MeasuredFrequency steady{4e9, 3.9e9, 4.1e9, 0.005, 0.02, 0};
  const Count count = estimated_cycles({milliseconds(200), milliseconds(50)}, steady);
  EXPECT_EQ(count.value, 970'690'000) << "the middle between 4.9 % less and 3 % more than 0.98 G";
  EXPECT_EQ(count.trust, Trust::estimated);
  EXPECT_NEAR(*count.error_percent, 3.95 / 0.9905, 1e-9);
  EXPECT_EQ(count.reason,
            "0.25 s × 4.00 GHz, less 2.93 % for interrupts, switches and the start, natively, in user and kernel mode");
  const Count pooled = estimated_cycles({milliseconds(50), milliseconds(0), 5}, steady);
  EXPECT_EQ(pooled.value, 192'570'000) << "the start is a larger part of a shorter run";
}

TEST(NativeRun, says_what_another_thread_of_the_core_may_have_added) {
  using std::chrono::milliseconds;
  const Count count =
      estimated_cycles({milliseconds(1000), milliseconds(0)}, linux::MeasuredFrequency{4e9, 4e9, 4e9, 0, 0, 0.03});
  EXPECT_TRUE(holds(count.reason, "another thread on this core may have added up to 3.00 %")) << count.reason;
}

TEST(NativeRun, says_what_the_hypervisor_took) {
  using std::chrono::milliseconds;
  const linux::MeasuredFrequency steady{4e9, 4e9, 4e9, 0};
  const Count little = estimated_cycles({milliseconds(1000), milliseconds(0), 1, milliseconds(30)}, steady);
  EXPECT_EQ(little.value, 3'908'000'000) << "the kernel may have charged it to the program";
  EXPECT_NEAR(*little.error_percent, 4.8 / 0.977, 1e-9);
  EXPECT_TRUE(holds(little.reason, "the hypervisor took the processor for 3.00 % of it")) << little.reason;
  const Count much = estimated_cycles({milliseconds(200), milliseconds(0), 5, milliseconds(300)}, steady);
  EXPECT_EQ(much.trust, Trust::absent);
  EXPECT_TRUE(holds(much.reason, "the hypervisor took 30.0 %")) << much.reason;
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
  EXPECT_EQ(estimated_cycles({milliseconds(180), milliseconds(0), 1, {}, milliseconds(180)}, steady_4_ghz).trust,
            Trust::estimated);
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

result::EventCount estimate_of(std::int64_t cycles) {
  result::EventCount estimate = event_count(counted(cycles, Source::wait4));
  estimate.event = "core-cycles-estimate";
  estimate.count.trust = Trust::estimated;
  return estimate;
}

// Rows, repeated and unplaced of an event.
std::vector<std::int64_t> column(const result::CodeCounts& code, std::size_t event) {
  std::vector<std::int64_t> values;
  for (const auto* const counts : {&code.counts, &code.repeated, &code.unplaced})
    for (std::size_t i = event; i < counts->size(); i += code.events.size()) values.push_back((*counts)[i]);
  return values;
}

TEST(NativeCycles, have_the_shares_of_the_modelled_ones_and_the_estimated_total) {
  result::Stat stat = result_of({exact(100, Source::engine), exact(10, Source::engine)});
  result::CodeCounts code;
  code.events = stat.runs.front().counts;
  code.counts = {50, 3, 40, 3, 10, 3};
  code.repeated = {0, 1};
  code.unplaced = {0, 0};
  code.python = {{.name = "f", .file = "", .self = {1, 5}, .inclusive = {2, 10}}};
  add_scaled_event(code, stat, 1, estimate_of(2001));
  EXPECT_EQ(column(code, 0), (std::vector<std::int64_t>{50, 40, 10, 0, 0}));
  EXPECT_EQ(column(code, 1), (std::vector<std::int64_t>{3, 3, 3, 1, 0}));
  EXPECT_EQ(column(code, 2), (std::vector<std::int64_t>{600, 601, 600, 200, 0})) << "together 2001";
  EXPECT_EQ(code.python.front().inclusive, (std::vector<std::int64_t>{2, 10, 2001}));
  ASSERT_EQ(stat.events.size(), 3U);
  EXPECT_EQ(stat.events[2].total.count.value, 2001);
}

TEST(NativeCycles, are_absent_if_nothing_was_modelled) {
  result::Stat stat = result_of({exact(0, Source::engine)});
  result::CodeCounts code;
  code.events = stat.runs.front().counts;
  code.repeated = code.unplaced = {0};
  add_scaled_event(code, stat, 0, estimate_of(2001));
  EXPECT_EQ(stat.events[1].total.count.trust, Trust::absent);
  EXPECT_EQ(column(code, 1), (std::vector<std::int64_t>{0, 0}));
}

}  // namespace
}  // namespace tally::why
