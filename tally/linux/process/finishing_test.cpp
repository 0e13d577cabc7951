#include "tally/linux/process/finishing.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tally/linux/process/received_signals.hpp"

namespace tally::linux {
namespace {

// Runs in a child process, because the effect of a signal is permanent. Returns the exit code, or minus the signal that
// ended it.
int in_child(void (*work)()) {
  const pid_t child = fork();
  if (child == 0) {
    work();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

void expect(bool condition, int number) {
  if (!condition) _exit(number);
}

TEST(Finishing, the_first_signal_asks_to_stop_and_the_second_ends) {
  const auto raise_twice = [] {
    auto signals = Signals::watch();
    expect(signals.has_value(), 1);
    {
      const Finishing outer(*signals);
      const Finishing inner(*signals);
      expect(!is_interrupted(), 2);
      raise(SIGTERM);
      expect(is_interrupted(), 3);
      raise(SIGTERM);  // the same one: timeout(1) sends it twice
    }
    expect(is_interrupted() && finishing_interrupted_by() == SIGTERM, 4);
    expect(signals->interrupted_by() == SIGTERM, 5);
  };
  // A busy machine may stop the child between both for so long that they are two signals.
  int end = -SIGTERM;
  for (int tries = 0; tries < 10 && end == -SIGTERM; ++tries) end = in_child(raise_twice);
  EXPECT_EQ(end, 0);
  EXPECT_EQ(in_child([] {
              auto signals = Signals::watch();
              const Finishing finishing(*signals);
              raise(SIGINT);
              usleep(300'000);
              raise(SIGTERM);
            }),
            -SIGTERM);
}

TEST(Finishing, a_blocked_system_call_is_ended) {
  EXPECT_EQ(in_child([] {
              auto signals = Signals::watch();
              const Finishing finishing(*signals);
              int ends[2];
              expect(pipe(ends) == 0, 1);
              alarm(1200);  // in case it is not ended
              const pid_t parent = getpid();
              if (fork() == 0) {
                usleep(50'000);
                kill(parent, SIGINT);
                _exit(0);
              }
              char byte = 0;
              const auto n = unless_interrupted([&] { return read(ends[0], &byte, 1); });
              expect(n == -1 && errno == EINTR, 2);
            }),
            0);
}

TEST(Finishing, after_an_interrupt_there_is_most_of_a_second) {
  EXPECT_EQ(in_child([] {
              auto signals = Signals::watch();
              raise(SIGTERM);
              expect(signals->take(0) == Signals::Taken::interrupted, 1);
              const Finishing finishing(*signals);
              expect(!is_interrupted(), 2);
              usleep(900'000);
              expect(is_interrupted() && !finishing_interrupted_by(), 3);
              raise(SIGTERM);
            }),
            -SIGTERM);
  EXPECT_EQ(in_child([] {
              auto signals = Signals::watch();
              raise(SIGTERM);
              expect(signals->take(0) == Signals::Taken::interrupted, 1);
              const Finishing finishing(*signals, Finishing::Ends::by_signal);
              usleep(900'000);
              expect(!is_interrupted(), 2);
            }),
            0)
      << "sampling of a running process ends by a signal";
}

TEST(Finishing, ignored_signals_stay_ignored) {
  EXPECT_EQ(in_child([] {
              signal(SIGHUP, SIG_IGN);
              auto signals = Signals::watch();
              const Finishing finishing(*signals);
              raise(SIGHUP);
              expect(!is_interrupted(), 1);
            }),
            0);
}

}  // namespace
}  // namespace tally::linux
