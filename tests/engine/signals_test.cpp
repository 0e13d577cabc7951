// Signals and processes, as programs with a C library use them: see libc/signals.cpp and libc/spawning.cpp. Every case
// checks itself.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>

#include "tests/engine/expect.hpp"

namespace tally::engine_test {
namespace {

/// Natively 0, and the same under the engine, which counts all of it.
void expect_right(const std::string& program, const std::string& which) {
  const bool lasts = which == "million" || which == "forks";  // once is enough
  for (const char* kind : {"dynamic", "static"}) {
    SCOPED_TRACE(kind);
    Command command;
    command.words = {std::string(LIBC_PROGRAMS) + "/" + program + "_" + kind, which};
    const Outcome native = run_native(command);
    ASSERT_EQ(native.code, 0) << native.err;
    for (const int size : {0, 1}) {
      SCOPED_TRACE(testing::Message() << "block size " << size);
      const Counted counted = run_counted(command, size);
      expect_same(counted.outcome, native);
      expect_exact(counted);
      if (lasts) return;
    }
  }
}

class SignalTest : public testing::TestWithParam<const char*> {};

TEST_P(SignalTest, is_as_natively) {
  if (std::string(GetParam()) == "jobs") {
    const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal < 0) GTEST_SKIP() << "no pseudo-terminals here: /dev/pts is not mounted";
    close(terminal);
  }
  expect_right("signals", GetParam());
}

INSTANTIATE_TEST_SUITE_P(engine, SignalTest,
                         testing::Values("nested", "resets", "stacks", "jumps", "contexts", "faults", "steps",
                                         "alignment", "waits", "descriptors", "timers", "queued", "storms", "million",
                                         "pending", "inherited", "jobs"),
                         [](const auto& one) { return std::string(one.param); });

/// Rules of signal(7), sigaction(2), sigaltstack(2), sigsuspend(2): see signals/rules.cpp. A native run is the measure.
class SignalRule : public testing::TestWithParam<const char*> {};

TEST_P(SignalRule, is_as_natively) {
  Command command;
  command.words = {std::string(LIBC_PROGRAMS) + "/signal_rules", GetParam()};
  const Outcome native = run_native(command);
  ASSERT_EQ(native.code, 0) << native.err;
  ASSERT_FALSE(native.out.empty());
  for (const int size : {0, 1}) {
    SCOPED_TRACE(testing::Message() << "block size " << size);
    const Counted counted = run_counted(command, size);
    expect_same(counted.outcome, native);
    expect_exact(counted);
  }
}

INSTANTIATE_TEST_SUITE_P(engine, SignalRule,
                         testing::Values("released_together", "many_rounds", "merged", "queued",
                                         "handler_blocks_others", "set_to_ignored", "forked", "executed", "after_exec",
                                         "no_defer", "reset_hand", "flags_kept", "no_restorer", "mask_of_the_frame",
                                         "frame_that_is_not_there", "blocked_faults", "interrupts_system_calls",
                                         "alternate_stack", "small_stack", "nested_on_stack", "stack_overflow",
                                         "frame_without_room", "temporary_masks", "ignored_does_not_end_a_wait",
                                         "comes_while_others_are_pending", "waited_for", "read_from_descriptor",
                                         "process_signal_is_waited_for", "process_signal_is_not_blocked_elsewhere",
                                         "process_signal_waits_for_a_thread", "thread_signals_are_the_threads",
                                         "process_signal_is_read_elsewhere"),
                         [](const auto& one) { return std::string(one.param); });

class SpawnTest : public testing::TestWithParam<const char*> {};

TEST_P(SpawnTest, is_as_natively) { expect_right("spawning", GetParam()); }

INSTANTIATE_TEST_SUITE_P(engine, SpawnTest,
                         testing::Values("spawn_errors", "forks", "closed", "limits", "numbers", "daemonised", "ended"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace tally::engine_test
