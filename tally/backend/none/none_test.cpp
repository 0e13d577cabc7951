#include "tally/backend/none/none.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tally::backend::none {
namespace {

Result<Outcome> run(std::vector<std::string> command, const std::string& events = "instructions,page-faults") {
  auto signals = linux::Signals::watch();
  EXPECT_TRUE(signals);
  Request request;
  request.command = std::move(command);
  request.events = *event::parse_lists({events});
  request.signals = &*signals;
  return make()->run(request);
}

TEST(None, answers_for_every_event_in_the_order_asked) {
  const auto outcome = run({"true"}, "page-faults,instructions,duration_time");
  ASSERT_TRUE(outcome) << outcome.error().message;
  ASSERT_EQ(outcome->counts.size(), 3u);
  EXPECT_EQ(outcome->counts[0].name, "page-faults");
  EXPECT_EQ(outcome->counts[0].count.trust, Trust::counted);
  EXPECT_EQ(outcome->counts[0].count.source, "wait4");
  EXPECT_GT(outcome->counts[0].count.value, 0);
  EXPECT_EQ(outcome->counts[1].name, "instructions:u");
  EXPECT_EQ(outcome->counts[1].count.trust, Trust::absent);
  EXPECT_FALSE(outcome->counts[1].count.value);
  EXPECT_FALSE(outcome->counts[1].count.reason.empty());
  EXPECT_EQ(outcome->counts[2].count.value, outcome->duration.count());
}

TEST(None, hands_on_exit_codes_and_signals) {
  EXPECT_EQ(WEXITSTATUS(run({"sh", "-c", "exit 3"})->wait_status), 3);
  const auto killed = run({"sh", "-c", "kill -9 $$"});
  EXPECT_TRUE(WIFSIGNALED(killed->wait_status));
  EXPECT_EQ(WTERMSIG(killed->wait_status), 9);
}

TEST(None, tells_why_a_program_was_not_executed) {
  EXPECT_EQ(run({"/nowhere/program"}).error().code, Code::not_found);
  EXPECT_EQ(run({"no-program-has-this-name"}).error().code, Code::not_found);
  EXPECT_EQ(run({"/"}).error().code, Code::not_executable);
  EXPECT_EQ(run({"/proc/self/status"}).error().code, Code::not_executable);
}

TEST(None, a_signal_that_another_process_sends_to_tally_reaches_the_program) {
  // Only the program's parent knows its pid here, so the program asks a child of its own to signal this process.
  const auto outcome =
      run({"sh", "-c", "trap 'exit 7' TERM; (kill -TERM " + std::to_string(getpid()) + "); while :; do :; done"});
  ASSERT_TRUE(outcome);
  EXPECT_EQ(WEXITSTATUS(outcome->wait_status), 7);
}

TEST(None, three_interrupts_in_a_row_end_the_wait_and_keep_what_was_counted) {
  // The program says when it is deaf to signals, and lives until `lives` is closed.
  int ready[2];
  int lives[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe2(lives, O_CLOEXEC), 0);
  const int input = dup(lives[0]);
  auto signals = linux::Signals::watch();
  ASSERT_TRUE(signals);
  // Signals of one kind that wait become one: they are sent until the wait has ended.
  const pid_t tally = getpid();
  const pid_t sender = fork();
  if (sender == 0) {
    char byte = 0;
    if (read(ready[0], &byte, 1) != 1) _exit(1);
    while (kill(tally, SIGINT) == 0) usleep(1000);
    _exit(0);
  }
  Request request;
  request.command = {"sh", "-c",
                     "trap '' INT; echo >&" + std::to_string(ready[1]) + "; exec cat <&" + std::to_string(input)};
  request.events = *event::parse_lists({"minor-faults,instructions"});
  request.signals = &*signals;
  const auto outcome = make()->run(request);
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
