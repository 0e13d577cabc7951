// Windows by the kernel's own events, which every kernel counts that lets this user do it.
#include "tally/counting/backend/perf/windows/window_run.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tally/linux/perf/perf_event.hpp"
#include "tally/linux/process/signals.hpp"

namespace tally::backend::perf {
namespace {

struct Row {
  std::uint32_t series;
  std::string program;
  std::uint64_t number;
  std::int64_t time, length, pid, tid, lost;
  bool cut;
  std::vector<std::int64_t> counts;
};

struct Made {
  result::WindowsHead head;
  std::vector<Row> rows;
  Result<WindowTotals> outcome = fail(Code::cannot_measure, "not run");
};

class WindowRun : public testing::TestWithParam<Follow> {
 protected:
  void SetUp() override {
    linux::PerfTarget all = linux::next_program;
    if (const auto counter = linux::open_counter({linux::perf_type_software, 2}, all); !counter)
      GTEST_SKIP() << "the kernel lets this user count no page faults: errno " << counter.os_errno;
  }

  static Made run(const std::vector<std::string>& command, const std::string& by, std::uint64_t every,
                  const std::string& events) {
    Made made;
    auto signals = linux::Signals::watch();
    EXPECT_TRUE(signals);
    WindowOrder order;
    order.target.command = command;
    order.events = *event::parse_lists({events});
    order.conditions.signals = &*signals;
    order.conditions.wait_all = true;
    order.triggers = {{*event::parse(by), every}};
    order.sink.on_begin = [&](const result::WindowsHead& head) { made.head = head; };
    order.sink.on_window = [&](const result::Window& window) {
      made.rows.push_back({window.series,
                           std::string(window.program),
                           window.number,
                           window.time.count(),
                           window.length,
                           window.pid,
                           window.tid,
                           window.lost,
                           !window.trigger,
                           {window.counts.begin(), window.counts.end()}});
    };
    made.outcome = run_windows(order, {}, GetParam());
    return made;
  }
};

// The counts of an event that was asked for: of all rows, and of the whole command.
std::int64_t sum_of(const Made& made, std::size_t event) {
  std::int64_t sum = 0;
  for (const Row& row : made.rows) sum += row.counts[*made.head.places[event]];
  return sum;
}

TEST_P(WindowRun, sums_of_windows_are_the_counts_of_the_command) {
  const Made made = run({"/bin/sh", "-c", "for i in 1 2 3 4; do ls / & done >/dev/null; wait; ls / >/dev/null"},
                        "page-faults", 1, "page-faults,minor-faults,context-switches");
  ASSERT_TRUE(made.outcome) << made.outcome.error().message;
  EXPECT_EQ(made.outcome->wait_status, 0);
  std::set<std::int64_t> processes;
  std::map<std::uint32_t, Row> before;
  std::int64_t lost = 0;
  for (const Row& row : made.rows) {
    processes.insert(row.pid);
    lost += row.lost;
    const auto [known, is_new] = before.try_emplace(row.series, row);
    EXPECT_EQ(row.number, is_new ? 1 : known->second.number + 1);
    EXPECT_GE(row.time, known->second.time);
    known->second = row;
    if (!row.cut) EXPECT_EQ(row.length, 1 + row.lost);
  }
  EXPECT_EQ(lost, 0);
  EXPECT_FALSE(processes.contains(0));
  EXPECT_EQ(processes.size(), 6u);
  for (std::size_t event = 0; event < 3; ++event) {
    EXPECT_EQ(sum_of(made, event), made.outcome->counts[event].count.value) << event;
    EXPECT_EQ(made.outcome->counts[event].count.trust, Trust::counted) << made.outcome->counts[event].count.reason;
  }
  EXPECT_GT(sum_of(made, 0), 200);
}

TEST_P(WindowRun, windows_have_exactly_the_period_but_for_the_last_of_a_thread) {
  const Made made = run({"/bin/sh", "-c", "ls / >/dev/null; ls / >/dev/null"}, "page-faults", 40, "page-faults");
  ASSERT_TRUE(made.outcome) << made.outcome.error().message;
  std::set<std::int64_t> cut;
  for (const Row& row : made.rows) {
    EXPECT_TRUE(cut.insert(row.tid).second || !row.cut) << "two last windows of a thread";
    if (!row.cut) {
      EXPECT_EQ(row.length, 40);
      cut.erase(row.tid);
    }
  }
  EXPECT_EQ(sum_of(made, 0), made.outcome->counts[0].count.value);
}

TEST_P(WindowRun, a_process_that_executes_another_program_has_a_series_for_each) {
  const Made made = run({"/bin/sh", "-c", "exec ls /dev/null >/dev/null"}, "page-faults", 1, "page-faults");
  ASSERT_TRUE(made.outcome) << made.outcome.error().message;
  std::set<std::string> programs;
  for (std::size_t i = 0; i < made.rows.size(); ++i) {
    programs.insert(made.rows[i].program);
    EXPECT_EQ(made.rows[i].tid, made.rows[0].tid);
    const bool begins = i == 0 || made.rows[i].program != made.rows[i - 1].program;
    EXPECT_EQ(made.rows[i].number, begins ? 1 : made.rows[i - 1].number + 1);
  }
  EXPECT_EQ(programs, (std::set<std::string>{"sh", "ls"}));
  EXPECT_EQ(sum_of(made, 0), made.outcome->counts[0].count.value);
}

TEST_P(WindowRun, windows_by_time_have_at_least_that) {
  const Made made = run({"/bin/sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"}, "task-clock", 1'000'000,
                        "task-clock,page-faults");
  ASSERT_TRUE(made.outcome) << made.outcome.error().message;
  EXPECT_GT(made.rows.size(), 2u);
  for (const Row& row : made.rows)
    if (!row.cut) EXPECT_GE(row.length, 900'000);
  EXPECT_EQ(sum_of(made, 1), made.outcome->counts[1].count.value);
}

TEST_P(WindowRun, a_killed_program_loses_nothing) {
  const Made made = run({"/bin/sh", "-c", "ls / >/dev/null; kill -9 $$"}, "page-faults", 7, "page-faults");
  ASSERT_TRUE(made.outcome) << made.outcome.error().message;
  EXPECT_EQ(made.outcome->wait_status, 9);
  EXPECT_EQ(sum_of(made, 0), made.outcome->counts[0].count.value);
}

INSTANTIATE_TEST_SUITE_P(, WindowRun, testing::Values(Follow::as_the_kernel_can, Follow::traced),
                         [](const auto& one) { return one.param == Follow::traced ? "traced" : "inherited"; });

}  // namespace
}  // namespace tally::backend::perf
