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

TEST(None, a_second_interrupt_ends_the_wait_and_keeps_what_was_counted) {
  // The program lives until this pipe is closed. The two signals differ, because two of one kind may become one.
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(fcntl(ends[1], F_SETFD, FD_CLOEXEC), 0);
  const std::string tally = std::to_string(getpid());
  const std::string script =
      "trap '' INT QUIT; kill -INT " + tally + "; kill -QUIT " + tally + "; exec cat <&" + std::to_string(ends[0]);
  const auto outcome = run({"sh", "-c", script}, "minor-faults,instructions");
  close(ends[1]);
  close(ends[0]);
  ASSERT_TRUE(outcome);
  EXPECT_FALSE(outcome->ended);
  EXPECT_EQ(outcome->counts[0].count.trust, Trust::partial);
  EXPECT_GT(outcome->counts[0].count.value, 0);
  EXPECT_EQ(outcome->counts[1].count.trust, Trust::absent);
  EXPECT_GT(outcome->duration.count(), 0);
}

}  // namespace
}  // namespace tally::backend::none
