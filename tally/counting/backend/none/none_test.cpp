#include "tally/counting/backend/none/none.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tally/linux/perf/perf_event.hpp"

namespace tally::backend::none {
namespace {

Result<Outcome> run(std::vector<std::string> command, const std::string& events = "instructions,page-faults") {
  auto signals = linux::Signals::watch();
  EXPECT_TRUE(signals);
  Order order;
  order.target.command = std::move(command);
  order.events = *event::parse_lists({events});
  order.conditions.signals = &*signals;
  return make()->run(order);
}

TEST(None, counts_every_event_in_the_requested_order) {
  const auto outcome = run({"true"}, "page-faults,instructions,duration_time");
  ASSERT_TRUE(outcome) << outcome.error().message;
  ASSERT_EQ(outcome->counts.size(), 3u);
  EXPECT_EQ(outcome->counts[0].name.text(), "page-faults");
  EXPECT_EQ(outcome->counts[0].count.trust, Trust::counted);
  const bool permitted = static_cast<bool>(linux::open_for_next_program(linux::KernelEvent::page_faults));
  EXPECT_EQ(outcome->counts[0].count.source, permitted ? Source::kernel : Source::wait4);
  EXPECT_GT(outcome->counts[0].count.value, 0);
  EXPECT_EQ(outcome->counts[1].name.text(), "instructions:u");
  EXPECT_EQ(outcome->counts[1].count.trust, Trust::absent);
  EXPECT_FALSE(outcome->counts[1].count.value);
  EXPECT_FALSE(outcome->counts[1].count.reason.empty());
  EXPECT_EQ(outcome->counts[2].count.value, outcome->duration.count());
}

TEST(None, forwards_exit_codes_and_signals) {
  EXPECT_EQ(WEXITSTATUS(run({"sh", "-c", "exit 3"})->wait_status), 3);
  const auto killed = run({"sh", "-c", "kill -9 $$"});
  EXPECT_TRUE(WIFSIGNALED(killed->wait_status));
  EXPECT_EQ(WTERMSIG(killed->wait_status), 9);
}

// Skips the test if the kernel does not permit its counters.
#define TALLY_NEEDS_COUNTERS()                                               \
  if (!linux::open_for_next_program(linux::KernelEvent::context_switches)) { \
    GTEST_SKIP() << "the kernel refuses perf_event_open here";               \
  }

TEST(None, counts_stay_when_the_program_is_killed) {
  TALLY_NEEDS_COUNTERS();
  const auto outcome =
      run({"sh", "-c", "sleep 0.01; sleep 0.01; sleep 0.01; kill -9 $$"}, "context-switches,task-clock,page-faults");
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(WIFSIGNALED(outcome->wait_status));
  // At least one for each sleep; without the kernel's part it would be 0.
  EXPECT_GE(outcome->counts[0].count.value, 3);
  EXPECT_GT(outcome->counts[1].count.value, 0);
  EXPECT_GT(outcome->counts[2].count.value, 0);
  for (const EventCount& one : outcome->counts) {
    EXPECT_EQ(one.count.trust, Trust::counted) << one.name.text();
    EXPECT_EQ(one.count.source, Source::kernel) << one.name.text();
  }
}

TEST(None, descendants_are_counted_and_tally_itself_is_not) {
  TALLY_NEEDS_COUNTERS();
  const auto faults = [](const std::string& script) {
    const Count count = run({"sh", "-c", script}, "page-faults")->counts[0].count;
    EXPECT_EQ(count.source, Source::kernel) << "wait4 would report nearly the same";
    return *count.value;
  };
  const std::int64_t alone = faults(":");
  EXPECT_GT(faults("(:); (:); (:)"), alone + 30) << "each child copies some pages at least";
  // tally's own process would add thousands: it is linked with the C++ library.
  EXPECT_LT(alone, 1000);
}

TEST(None, faults_of_user_mode_are_those_of_the_programs_own_accesses) {
  TALLY_NEEDS_COUNTERS();
  // The kernel fills the buffer, and causes the faults for its 256 pages, or for the few that hold them.
  const auto outcome = run({"dd", "if=/dev/zero", "of=/dev/null", "bs=1M", "count=1", "status=none"},
                           "page-faults,page-faults:u,minor-faults");
  ASSERT_TRUE(outcome);
  EXPECT_GT(outcome->counts[1].count.value, 0);
  EXPECT_LT(outcome->counts[1].count.value, outcome->counts[0].count.value);
  EXPECT_EQ(outcome->counts[1].name.text(), "page-faults:u");
}

TEST(None, clocks_fit_the_times_of_wait4) {
  const auto outcome = run({"sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"},
                           "task-clock,user_time,system_time,duration_time,tsc");
  ASSERT_TRUE(outcome);
  const auto value = [&](std::size_t i) { return *outcome->counts[i].count.value; };
  EXPECT_GT(value(0), (value(1) + value(2)) / 2);
  EXPECT_LE(value(0), value(3)) << "one thread is on one processor at a time";
#if defined(__x86_64__)
  EXPECT_GT(value(4), 0);
#endif
}

TEST(None, a_program_stays_on_its_processor) {
  auto signals = linux::Signals::watch();
  Order order;
  order.target.command = {"sh", "-c", "test \"$(sed -n 's/^Cpus_allowed_list:\t//p' /proc/self/status)\" = 0"};
  order.events = *event::parse_lists({"page-faults"});
  order.conditions.signals = &*signals;
  order.conditions.processor = 0;
  if (!linux::check_processor(0)) GTEST_SKIP() << "this process may not run on processor 0";
  EXPECT_EQ(make()->run(order)->wait_status, 0);
}

TEST(None, reports_why_a_program_was_not_executed) {
  EXPECT_EQ(run({"/nowhere/program"}).error().code, Code::not_found);
  EXPECT_EQ(run({"no-program-has-this-name"}).error().code, Code::not_found);
  EXPECT_EQ(run({"/"}).error().code, Code::not_executable);
  EXPECT_EQ(run({"/proc/self/status"}).error().code, Code::not_executable);
}

TEST(None, a_signal_that_another_process_sends_to_tally_reaches_the_program) {
  // Only the program's parent has its process ID here, so the program asks a child of its own to signal this process.
  const auto outcome =
      run({"sh", "-c", "trap 'exit 7' TERM; (kill -TERM " + std::to_string(getpid()) + "); while :; do :; done"});
  ASSERT_TRUE(outcome);
  EXPECT_EQ(WEXITSTATUS(outcome->wait_status), 7);
}

TEST(None, three_interrupts_in_a_row_end_the_wait_and_keep_the_counts) {
  // The program reports when it ignores signals, and lives until `lives` is closed.
  int ready[2];
  int lives[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe2(lives, O_CLOEXEC), 0);
  const int input = dup(lives[0]);
  auto signals = linux::Signals::watch();
  ASSERT_TRUE(signals);
  // Pending signals of one kind are merged, so they are sent until the wait has ended.
  const pid_t tally = getpid();
  const pid_t sender = fork();
  if (sender == 0) {
    char byte = 0;
    if (read(ready[0], &byte, 1) != 1) _exit(1);
    while (kill(tally, SIGINT) == 0) usleep(1000);
    _exit(0);
  }
  Order order;
  order.target.command = {"sh", "-c",
                          "trap '' INT; echo >&" + std::to_string(ready[1]) + "; exec cat <&" + std::to_string(input)};
  order.events = *event::parse_lists({"minor-faults,instructions"});
  order.conditions.signals = &*signals;
  const auto outcome = make()->run(order);
  kill(sender, SIGKILL);
  waitpid(sender, nullptr, 0);
  signals->settle();
  for (const int fd : {ready[0], ready[1], lives[0], lives[1], input}) close(fd);
  ASSERT_TRUE(outcome);
  EXPECT_FALSE(outcome->ended);
  EXPECT_EQ(outcome->counts[0].count.trust, Trust::partial);
  EXPECT_GT(outcome->counts[0].count.value, 0);
  EXPECT_EQ(outcome->counts[1].count.trust, Trust::absent);
  EXPECT_GT(outcome->duration.count(), 0);
}

}  // namespace
}  // namespace tally::backend::none
