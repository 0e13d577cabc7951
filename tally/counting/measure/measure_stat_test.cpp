#include "tally/counting/measure/measure_stat.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <deque>

namespace tally::measure {
namespace {

using backend::Outcome;

// Returns one prepared outcome for each run.
class Script final : public backend::Backend {
 public:
  backend::Traits traits() const override { return {.name = "script"}; }
  std::optional<Error> refuses(const backend::Order& /*order*/) const override { return std::nullopt; }
  Result<Outcome> run(const backend::Order& order) override {
    ++runs;
    last = order;
    // The signal stays pending, like a Ctrl-C at the program's end.
    if (interrupt_in == runs) kill(getpid(), SIGINT);
    auto next = std::move(outcomes.front());
    outcomes.pop_front();
    return next;
  }

  backend::Outlook outlook(const event::Event&) const override {
    return {Trust::exact, "", CountSource::pmu("script")};
  }

  std::deque<Result<Outcome>> outcomes;
  backend::Order last;
  int runs = 0;
  int interrupt_in = 0;
};

constexpr int exited(int code) { return code << 8; }

class StatTest : public testing::Test {
 protected:
  StatTest() {
    options_.target.command = {"program"};
    options_.events = *event::parse_lists({"instructions,branches,loads,page-faults"});
  }

  void add(std::int64_t factor, int wait_status = 0) {
    Outcome outcome;
    outcome.wait_status = wait_status;
    std::int64_t value = 1000;
    for (const event::Event& event : options_.events) {
      outcome.counts.push_back(backend::event_count(event, exact(factor * value, CountSource::pmu("script"))));
      value /= 2;
    }
    script_.outcomes.push_back(outcome);
  }

  Result<result::Stat> measure() {
    auto signals = linux::Signals::watch();
    return stat(script_, options_, *signals);
  }

  Script script_;
  StatOptions options_;
};

TEST_F(StatTest, one_run_is_reported_unchanged) {
  add(1, exited(3));
  const auto stat = measure();
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->exit_code, 3);
  EXPECT_FALSE(stat->incomplete);
  ASSERT_EQ(stat->events.size(), 4u);
  EXPECT_EQ(stat->events[1].total.name.text(), "branches:u");
  EXPECT_EQ(stat->events[1].total.count.value, 500);
  EXPECT_FALSE(stat->events[1].summary);
  EXPECT_EQ(stat->backend, "script");
}

TEST_F(StatTest, the_request_reaches_the_backend) {
  options_.conditions.engine.block_size = 3;
  options_.conditions.engine.cache_limit = 5;
  options_.conditions.engine.hot_from = 7;
  add(1);
  measure();
  EXPECT_EQ(script_.last.target.command, options_.target.command);
  EXPECT_EQ(script_.last.events, options_.events);
  EXPECT_EQ(script_.last.conditions.engine.block_size, 3);
  EXPECT_EQ(script_.last.conditions.engine.cache_limit, 5);
  EXPECT_EQ(script_.last.conditions.engine.hot_from, 7);
}

// Counts of a processor that adds `each` for each fault and interrupt.
Outcome read_with(const std::vector<event::Event>& events, std::int64_t each, std::int64_t faults) {
  constexpr std::int64_t own = 2'000'007;
  Outcome outcome;
  for (const event::Event& event : events) {
    Count count = counted(own + each * faults, CountSource::pmu("cpu"));
    if (event.id == event::Id::instructions) count.correction = Correction{own, each, faults, std::nullopt};
    outcome.counts.push_back(backend::event_count(event, count));
  }
  return outcome;
}

TEST_F(StatTest, a_series_of_corrected_counts_is_corrected) {
  for (const std::int64_t each : {1, 2}) {
    options_.runs = 3;
    for (const std::int64_t faults : {246, 250, 247}) {
      script_.outcomes.emplace_back(read_with(options_.events, each, faults));
    }
    const auto stat = measure();
    ASSERT_TRUE(stat);
    EXPECT_EQ(stat->events[0].total.count.value, 2'000'007 + each * 247);
    EXPECT_EQ(stat->events[0].total.count.correction, (Correction{2'000'007, each, 247, std::nullopt}));
    EXPECT_FALSE(stat->events[1].total.count.correction);
    EXPECT_TRUE(stat->notices.empty());
  }
}

TEST_F(StatTest, missing_corrections_are_reported_if_requested) {
  options_.count()->count_interrupts = true;
  script_.outcomes.emplace_back(read_with(options_.events, 0, 246));
  const auto nothing_added = measure();
  EXPECT_TRUE(script_.last.count()->count_interrupts);
  ASSERT_EQ(nothing_added->notices.size(), 1U);
  EXPECT_EQ(nothing_added->notices[0], "page faults add nothing to instructions:u on this machine (measured)");
  add(1);
  const auto no_pmu = measure();
  ASSERT_EQ(no_pmu->notices.size(), 1U);
  EXPECT_EQ(no_pmu->notices[0].find("--corrections has no effect here"), 0U);
}

TEST_F(StatTest, metrics_use_the_requested_events) {
  add(1);
  const auto stat = measure();
  ASSERT_EQ(stat->metrics.size(), 2u);
  EXPECT_EQ(stat->metrics[0].name, "branches/instructions");
  EXPECT_EQ(stat->metrics[0].ratio.value, 0.5);
  EXPECT_EQ(stat->metrics[0].unit, "share");
  EXPECT_EQ(stat->metrics[0].formula, "branches:u / instructions:u");
  EXPECT_EQ(stat->metrics[0].row_event.text(), "branches:u");
  EXPECT_EQ(stat->metrics[1].name, "loads/instructions");
  EXPECT_EQ(stat->metrics[1].unit, "");
}

TEST_F(StatTest, metrics_do_not_mix_modes) {
  options_.events = *event::parse_lists({"instructions:k,branches:u"});
  add(1);
  EXPECT_TRUE(measure()->metrics.empty());
}

TEST_F(StatTest, a_metric_of_the_table_is_in_a_free_row) {
  options_.events = *event::parse_lists({"instructions,cycles,branches"});
  add(1);
  const auto stat = measure();
  ASSERT_EQ(stat->metrics.size(), 2u) << "branch-rate equals branches/instructions";
  EXPECT_EQ(stat->metrics[0].name, "branches/instructions");
  EXPECT_EQ(stat->metrics[1].name, "IPC");
  EXPECT_EQ(stat->metrics[1].row_event.text(), "cycles:u");
  EXPECT_EQ(stat->metrics[1].ratio.value, 2);
  EXPECT_FALSE(stat->metrics[1].asked);
}

TEST_F(StatTest, requested_metrics_are_present_even_if_absent) {
  options_.events = *event::parse_lists({"instructions,loads"});
  options_.metrics = *parse_metrics({"loads-per-instruction,CPI", "mine=2 * loads / instructions"});
  add(1);
  const auto stat = measure();
  ASSERT_EQ(stat->metrics.size(), 4u);
  EXPECT_EQ(stat->metrics[1].name, "loads-per-instruction");
  EXPECT_TRUE(stat->metrics[1].asked);
  EXPECT_EQ(stat->metrics[1].ratio.value, 0.5);
  EXPECT_FALSE(stat->metrics[2].ratio.value);
  EXPECT_FALSE(stat->metrics[2].ratio.reason.empty());
  EXPECT_EQ(stat->metrics[3].ratio.value, 1);
}

TEST_F(StatTest, a_metric_of_a_series_uses_the_ratios_of_its_runs) {
  options_.events = *event::parse_lists({"instructions,loads"});
  options_.runs = 3;
  for (const std::int64_t loads : {100, 400, 200}) {
    add(1);
    script_.outcomes.back()->counts[1].count.value = loads;
  }
  const auto stat = measure();
  const result::Metric& metric = stat->metrics.at(0);
  EXPECT_EQ(metric.runs, (std::vector<std::optional<double>>{0.1, 0.4, 0.2}));
  EXPECT_EQ(metric.ratio.value, 0.2);
  EXPECT_EQ(metric.summary->max, 0.4);
}

TEST_F(StatTest, a_series_has_a_median) {
  options_.runs = 3;
  for (const int factor : {3, 1, 2}) add(factor);
  const auto stat = measure();
  EXPECT_EQ(stat->runs.size(), 3u);
  EXPECT_EQ(stat->events[0].total.count.value, 2000);
  EXPECT_EQ(stat->events[0].total.count.trust, Trust::exact);
  EXPECT_EQ(stat->events[0].summary->min, 1000);
  EXPECT_EQ(stat->events[0].summary->max, 3000);
}

TEST_F(StatTest, the_first_failure_ends_a_series) {
  options_.runs = 3;
  add(1);
  add(2, exited(4));
  const auto stat = measure();
  EXPECT_EQ(script_.runs, 2);
  EXPECT_EQ(stat->exit_code, 4);
  EXPECT_TRUE(stat->incomplete);
  ASSERT_EQ(stat->notices.size(), 1u);
  EXPECT_NE(stat->notices[0].find("2 of 3 runs"), std::string::npos);
}

TEST_F(StatTest, keep_going_continues_and_reports_the_first_failure) {
  options_.runs = 3;
  options_.keep_going = true;
  add(1);
  add(2, 11);
  add(3, exited(5));
  const auto stat = measure();
  EXPECT_EQ(script_.runs, 3);
  EXPECT_EQ(stat->exit_code, 139);
  EXPECT_EQ(stat->signal, 11);
  EXPECT_FALSE(stat->incomplete);
}

TEST_F(StatTest, a_run_that_cannot_be_started_keeps_the_earlier_ones) {
  options_.runs = 3;
  add(1);
  script_.outcomes.push_back(fail(Code::not_found, "it was removed"));
  const auto stat = measure();
  ASSERT_TRUE(stat);
  EXPECT_TRUE(stat->incomplete);
  EXPECT_EQ(stat->events[0].total.count.value, 1000);
  EXPECT_NE(stat->notices[0].find("it was removed"), std::string::npos);
}

TEST_F(StatTest, nothing_to_keep_is_an_error) {
  script_.outcomes.push_back(fail(Code::not_executable, "no"));
  EXPECT_EQ(measure().error().code, Code::not_executable);
}

TEST_F(StatTest, an_interrupted_run_is_left_out_of_a_series) {
  options_.runs = 3;
  script_.interrupt_in = 2;
  add(1);
  add(7, SIGINT);
  const auto stat = measure();
  EXPECT_EQ(script_.runs, 2);
  EXPECT_EQ(stat->interrupted_by, SIGINT);
  EXPECT_TRUE(stat->incomplete);
  EXPECT_EQ(stat->runs.size(), 2u);
  EXPECT_FALSE(stat->runs[1].complete);
  EXPECT_EQ(stat->events[0].summary->n, 1u);
  EXPECT_EQ(stat->events[0].summary->max, 1000);
}

TEST_F(StatTest, an_interrupted_single_run_is_partial) {
  script_.interrupt_in = 1;
  add(1, SIGINT);
  const auto stat = measure();
  EXPECT_EQ(stat->events[0].total.count.value, 1000);
  EXPECT_EQ(stat->events[0].total.count.trust, Trust::partial);
  EXPECT_TRUE(stat->incomplete);
}

TEST_F(StatTest, a_program_that_survives_an_interrupt_was_counted_to_its_end) {
  script_.interrupt_in = 1;
  add(1, exited(5));
  const auto stat = measure();
  EXPECT_EQ(stat->interrupted_by, SIGINT);
  EXPECT_EQ(stat->exit_code, 5);
  EXPECT_FALSE(stat->incomplete);
  EXPECT_EQ(stat->events[0].total.count.trust, Trust::exact);
}

TEST_F(StatTest, an_interrupt_ends_a_series_even_if_the_program_survives_it) {
  options_.runs = 3;
  script_.interrupt_in = 2;
  add(1);
  add(2);
  const auto stat = measure();
  EXPECT_EQ(script_.runs, 2);
  EXPECT_TRUE(stat->incomplete);
  EXPECT_TRUE(stat->runs[1].complete);
  EXPECT_EQ(stat->events[0].summary->n, 2u);
}

TEST_F(StatTest, abandoned_descendants_make_it_incomplete) {
  options_.conditions.wait_all = true;
  script_.interrupt_in = 1;
  add(1);
  script_.outcomes.back()->all_ended = false;
  const auto stat = measure();
  EXPECT_TRUE(script_.last.conditions.wait_all);
  EXPECT_EQ(stat->exit_code, 0);
  EXPECT_TRUE(stat->incomplete);
  EXPECT_EQ(stat->events[0].total.count.trust, Trust::partial);
}

TEST(Environment, repeats_the_machine_and_names_the_version) {
  linux::HostMachine machine;
  machine.cpu = "cpu";
  machine.hypervisor = true;
  machine.perf_event_paranoid = 2;
  machine.pmus = {"cpu"};
  const result::Environment here = environment(machine);
  EXPECT_EQ(here.cpu, "cpu");
  EXPECT_EQ(here.hypervisor, true);
  EXPECT_EQ(here.perf_event_paranoid, 2);
  EXPECT_EQ(here.pmus, machine.pmus);
  EXPECT_FALSE(here.tally_version.empty());
}

}  // namespace
}  // namespace tally::measure
