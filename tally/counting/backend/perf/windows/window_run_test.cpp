// Tests windows with the kernel's own events, which need no PMU.
#include "tally/counting/backend/perf/windows/window_run.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tally/linux/perf/perf_event.hpp"
#include "tally/linux/process/received_signals.hpp"

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

struct Recording {
  result::WindowsHead head;
  std::vector<Row> rows;
  Result<Outcome> outcome = fail(Code::cannot_measure, "not run");
};

class WindowRun : public testing::TestWithParam<Follow> {
 protected:
  void SetUp() override {
    linux::PerfTarget all = linux::next_program;
    if (const auto counter = linux::open_counter({linux::perf_type_software, 2}, all); !counter)
      GTEST_SKIP() << "the kernel does not let this user count page faults: errno " << counter.os_errno;
  }

  static Recording run(const std::vector<std::string>& command, const std::string& trigger, std::uint64_t every,
                       const std::string& events) {
    Recording recording;
    auto signals = linux::Signals::watch();
    EXPECT_TRUE(signals);
    Order order;
    Order::Windows windows;
    order.target.command = command;
    order.events = *event::parse_lists({events});
    order.conditions.signals = &*signals;
    order.conditions.wait_all = true;
    windows.triggers = {{*event::parse(trigger), every}};
    windows.sink.on_begin = [&](const result::WindowsHead& head) { recording.head = head; };
    windows.sink.on_window = [&](const result::Window& window) {
      recording.rows.push_back({window.series,
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
    order.instrument = windows;
    recording.outcome = run_windows(order, {}, GetParam());
    return recording;
  }
};

// The sum of a requested event over all rows.
std::int64_t sum_of(const Recording& recording, std::size_t event) {
  std::int64_t sum = 0;
  for (const Row& row : recording.rows) sum += row.counts[*recording.head.places[event]];
  return sum;
}

TEST_P(WindowRun, sums_of_windows_are_the_counts_of_the_command) {
  const Recording recording =
      run({"/bin/sh", "-c", "for i in 1 2 3 4; do ls / & done >/dev/null; wait; ls / >/dev/null"}, "page-faults", 1,
          "page-faults,minor-faults,context-switches");
  ASSERT_TRUE(recording.outcome) << recording.outcome.error().message;
  EXPECT_EQ(recording.outcome->wait_status, 0);
  std::set<std::int64_t> processes;
  std::map<std::uint32_t, Row> before;
  std::int64_t lost = 0;
  for (const Row& row : recording.rows) {
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
    EXPECT_EQ(sum_of(recording, event), recording.outcome->counts[event].count.value) << event;
    EXPECT_EQ(recording.outcome->counts[event].count.trust, Trust::counted)
        << recording.outcome->counts[event].count.reason;
  }
  EXPECT_GT(sum_of(recording, 0), 200);
}

TEST_P(WindowRun, windows_have_exactly_the_period_except_the_last_of_a_thread) {
  const Recording recording =
      run({"/bin/sh", "-c", "ls / >/dev/null; ls / >/dev/null"}, "page-faults", 40, "page-faults");
  ASSERT_TRUE(recording.outcome) << recording.outcome.error().message;
  std::set<std::int64_t> cut;
  for (const Row& row : recording.rows) {
    EXPECT_TRUE(cut.insert(row.tid).second || !row.cut) << "two last windows of a thread";
    if (!row.cut) {
      EXPECT_EQ(row.length, 40);
      cut.erase(row.tid);
    }
  }
  EXPECT_EQ(sum_of(recording, 0), recording.outcome->counts[0].count.value);
}

TEST_P(WindowRun, a_process_has_a_series_for_each_program_that_it_executes) {
  const Recording recording = run({"/bin/sh", "-c", "exec ls /dev/null >/dev/null"}, "page-faults", 1, "page-faults");
  ASSERT_TRUE(recording.outcome) << recording.outcome.error().message;
  std::set<std::string> programs;
  for (std::size_t i = 0; i < recording.rows.size(); ++i) {
    programs.insert(recording.rows[i].program);
    EXPECT_EQ(recording.rows[i].tid, recording.rows[0].tid);
    const bool begins = i == 0 || recording.rows[i].program != recording.rows[i - 1].program;
    EXPECT_EQ(recording.rows[i].number, begins ? 1 : recording.rows[i - 1].number + 1);
  }
  EXPECT_EQ(programs, (std::set<std::string>{"sh", "ls"}));
  EXPECT_EQ(sum_of(recording, 0), recording.outcome->counts[0].count.value);
}

TEST_P(WindowRun, windows_by_time_have_at_least_the_period) {
  const Recording recording = run({"/bin/sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"}, "task-clock",
                                  1'000'000, "task-clock,page-faults");
  ASSERT_TRUE(recording.outcome) << recording.outcome.error().message;
  EXPECT_GT(recording.rows.size(), 2u);
  // A late interrupt makes its window longer and the next one shorter.
  std::int64_t all = 0, windows = 0;
  for (const Row& row : recording.rows) {
    if (row.cut) continue;
    EXPECT_GE(row.length, 500'000);
    all += row.length;
    ++windows;
  }
  EXPECT_GE(all, 900'000 * windows);
  EXPECT_EQ(sum_of(recording, 1), recording.outcome->counts[1].count.value);
}

TEST_P(WindowRun, a_killed_program_loses_nothing) {
  const Recording recording = run({"/bin/sh", "-c", "ls / >/dev/null; kill -9 $$"}, "page-faults", 7, "page-faults");
  ASSERT_TRUE(recording.outcome) << recording.outcome.error().message;
  EXPECT_EQ(recording.outcome->wait_status, 9);
  EXPECT_EQ(sum_of(recording, 0), recording.outcome->counts[0].count.value);
}

INSTANTIATE_TEST_SUITE_P(, WindowRun, testing::Values(Follow::as_the_kernel_can, Follow::traced),
                         [](const auto& one) { return one.param == Follow::traced ? "traced" : "inherited"; });

}  // namespace
}  // namespace tally::backend::perf
