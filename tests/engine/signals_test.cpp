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
  const bool lasts = which == "many" || which == "forks";  // once is enough
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
                                         "alignment", "waits", "descriptors", "timers", "queued", "storms", "many",
                                         "pending", "inherited", "jobs"),
                         [](const auto& one) { return std::string(one.param); });

/// Rules of signal(7), sigaction(2), sigaltstack(2), sigsuspend(2): see signals/rules.cpp. A native run is the
/// reference.
class SignalRule : public testing::TestWithParam<const char*> {};

void expect_as_natively(const std::string& program, const char* rule) {
  Command command;
  command.words = {std::string(LIBC_PROGRAMS) + "/" + program, rule};
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

TEST_P(SignalRule, is_as_natively) { expect_as_natively("signal_rules", GetParam()); }

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

/// Pending signals follow their senders: see signals/sources.cpp.
class SignalSource : public testing::TestWithParam<const char*> {};

TEST_P(SignalSource, keeps_its_signal_as_natively) { expect_as_natively("signal_sources", GetParam()); }

INSTANTIATE_TEST_SUITE_P(engine, SignalSource,
                         testing::Values("deleted", "deleted_and_asked_for", "runs_out_often", "executed", "after_exec",
                                         "forked", "at_the_limit"),
                         [](const auto& one) { return std::string(one.param); });

/// Arguments of system calls about signals: see signals/arguments.cpp.
class SignalArguments : public testing::TestWithParam<const char*> {};

TEST_P(SignalArguments, are_taken_as_natively) { expect_as_natively("signal_arguments", GetParam()); }

INSTANTIATE_TEST_SUITE_P(engine, SignalArguments,
                         testing::Values("actions", "masks", "pending", "waiting", "sending", "stacks",
                                         "temporary_masks", "looking_like_faults", "raised_again"),
                         [](const auto& one) { return std::string(one.param); });

/// What the kernel checks when a handler returns: see signals/frames.cpp. A native run is the reference. What the
/// engine cannot run continues natively, and the result says so.
struct FrameRule {
  const char* name;
  bool exact = true;
};

std::ostream& operator<<(std::ostream& stream, const FrameRule& rule) { return stream << rule.name; }

class SignalFrame : public testing::TestWithParam<FrameRule> {};

TEST_P(SignalFrame, is_checked_as_by_the_kernel) {
  Command command;
  command.words = {std::string(LIBC_PROGRAMS) + "/signal_frames", GetParam().name};
  const Outcome native = run_native(command);
  ASSERT_EQ(native.code, 0) << native.err;
  ASSERT_FALSE(native.out.empty());
  for (const int size : {0, 1}) {
    SCOPED_TRACE(testing::Message() << "block size " << size);
    const Counted counted = run_counted(command, size);
    expect_same(counted.outcome, native);
    EXPECT_EQ(counted.exact, GetParam().exact) << counted.problem;
    if (!GetParam().exact) {
      EXPECT_NE(counted.problem.find("another code segment"), std::string::npos) << counted.problem;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(engine, SignalFrame,
                         testing::Values(FrameRule{"flags"}, FrameRule{"segments"}, FrameRule{"other_segments", false},
                                         FrameRule{"narrow_code", false}, FrameRule{"last_trap"},
                                         FrameRule{"addresses"}, FrameRule{"vector_registers"},
                                         FrameRule{"vector_addresses"}, FrameRule{"forced"},
                                         FrameRule{"forced_among_others"}, FrameRule{"masks"}, FrameRule{"frames"},
                                         FrameRule{"alternate_stacks"}, FrameRule{"stack_sizes"}),
                         [](const auto& one) { return std::string(one.param.name); });

class SpawnTest : public testing::TestWithParam<const char*> {};

TEST_P(SpawnTest, is_as_natively) { expect_right("spawning", GetParam()); }

INSTANTIATE_TEST_SUITE_P(engine, SpawnTest,
                         testing::Values("spawn_errors", "forks", "closed", "limits", "numbers", "daemonised", "ended"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace tally::engine_test
