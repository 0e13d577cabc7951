// The free-standing programs: natively they check themselves; under the engine they behave the same, and their counts
// are the stepper's for every block size.
#include "tests/engine/expect.hpp"

namespace tally::engine_test {
namespace {

struct Program {
  const char* name;
  std::vector<std::string> arguments = {};
  int code = 0;
  bool killed = false;  ///< SIGKILL leaves no time to finish a count
};

std::ostream& operator<<(std::ostream& stream, const Program& program) { return stream << program.name; }

Command command_of(const Program& program) {
  Command command;
  command.words = {std::string(PROGRAMS) + "/" + program.name};
  command.words.insert(command.words.end(), program.arguments.begin(), program.arguments.end());
  return command;
}

class ProgramTest : public testing::TestWithParam<Program> {};

TEST_P(ProgramTest, counts_what_the_stepper_counts) {
  expect_as_stepped(command_of(GetParam()), GetParam().code, !GetParam().killed);
}

INSTANTIATE_TEST_SUITE_P(engine, ProgramTest,
                         testing::Values(Program{"branches", {}}, Program{"returns", {}}, Program{"loops", {}},
                                         Program{"flags", {}}, Program{"addressing", {}}, Program{"atomics", {}},
                                         Program{"gather", {}}, Program{"prefetches", {}}, Program{"stack_forms", {}},
                                         Program{"strings", {}}, Program{"fault_repair", {}}, Program{"fault_skip", {}},
                                         Program{"queued", {}}, Program{"nested", {}}, Program{"clone3", {}},
                                         Program{"bad_places", {}}, Program{"alternate_stack", {}},
                                         Program{"leave_handler", {}}, Program{"state", {}}, Program{"red_zone", {}},
                                         Program{"rewrite", {}}, Program{"processes", {}}, Program{"late_child", {}},
                                         Program{"threads", {}}, Program{"thread_signals", {}}, Program{"restarts", {}},
                                         Program{"rep_timer", {}}, Program{"block_timer", {}},
                                         Program{"shared_slots", {}}, Program{"exits_timer", {}}),
                         [](const auto& one) { return std::string(one.param.name); });

INSTANTIATE_TEST_SUITE_P(ends, ProgramTest,
                         testing::Values(Program{"ends", {"3"}, 3}, Program{"ends", {"e"}, 4},
                                         Program{"ends", {"s"}, 139}, Program{"ends", {"k"}, 137, true},
                                         Program{"ends", {"t"}, 143}, Program{"ends", {"a"}, 134}),
                         [](const auto& one) { return "by_" + one.param.arguments[0]; });

/// Not under the stepper, which learns too late that threads end at an execve. Every program image runs the same
/// instructions, 6,000 of them in the loops of three threads.
TEST(ExecOfAThread, keeps_the_counts_of_all_threads) {
  for (const int size : block_sizes()) {
    uint64_t before = 0;
    uint64_t difference = 0;
    for (const char* times : {"1", "2", "3", "4"}) {
      const Counted counted = run_counted(command_of({"exec_thread", {times}}), size);
      EXPECT_EQ(counted.outcome.code, 7) << counted.outcome.err;
      expect_exact(counted);
      const uint64_t now = counted.counts.instructions;
      if (difference != 0) {
        EXPECT_EQ(now - before, difference);
      }
      if (before != 0) difference = now - before;
      before = now;
    }
    EXPECT_GT(difference, 6000u);
    EXPECT_LT(difference, 6500u);
  }
}

/// The number of instructions of a thread in an endless loop is not fixed.
TEST(ExecOfAThread, loses_nothing_whether_it_fails_or_not) {
  for (const char* mode : {"s", "f"}) {
    for (int i = 0; i < test::in_full_run(20, 6); ++i) {
      const Counted counted = run_counted(command_of({"exec_thread", {"3", mode}}), i % 2);
      EXPECT_EQ(counted.outcome.code, 7) << counted.outcome.err;
      expect_exact(counted);
    }
  }
}

/// Not under the stepper, whose popf does not support the ID flag.
TEST(OddForms, do_what_they_do_natively) {
  const Command command = command_of({"odd_forms"});
  const Outcome native = run_native(command);
  ASSERT_EQ(native.code, 0) << native.err;
  const Counts first = run_counted(command, block_sizes()[0]).counts;
  for (const int size : block_sizes()) {
    const Counted counted = run_counted(command, size);
    expect_same(counted.outcome, native);
    expect_counts(counted.counts, first);
    expect_exact(counted);
  }
}

/// The first lines of a timer program's output, as numbers.
std::vector<uint64_t> numbers(const std::string& text) {
  std::vector<uint64_t> result;
  for (size_t at = 0; at + 17 <= text.size(); at += 17) result.push_back(std::stoull(text.substr(at, 16), nullptr, 16));
  return result;
}

struct TimerProgram {
  const char* name;
  uint64_t handler;      ///< instructions of one handler run, the restorer's two included
  uint64_t per_round;    ///< instructions of one round of the loop, if the number of rounds differs
  uint64_t least_ticks;  ///< with fewer the timer did not run, and the test proves nothing
};

class TimerTest : public testing::TestWithParam<TimerProgram> {};

TEST_P(TimerTest, counts_a_fixed_part_and_the_handler_runs) {
  const TimerProgram& timed = GetParam();
  const Command quiet = command_of({timed.name, {}});
  const Command busy = command_of({timed.name, {"1"}});
  const Counted stepped = run_stepped(quiet);
  const Outcome stepped_native = run_native(quiet);
  ASSERT_EQ(stepped_native.code, 0);
  const uint64_t quiet_rounds = timed.per_round != 0 ? numbers(stepped.outcome.out).at(1) : 0;
  for (const int size : block_sizes()) {
    SCOPED_TRACE(testing::Message() << "block size " << size);
    const Counted counted = run_counted(busy, size);
    ASSERT_EQ(counted.outcome.code, 0) << counted.outcome.err;
    const auto printed = numbers(counted.outcome.out);
    ASSERT_GE(printed.size(), timed.per_round != 0 ? 2u : 1u);
    const uint64_t rounds = timed.per_round != 0 ? printed[1] - quiet_rounds : 0;
    EXPECT_GE(printed[0], timed.least_ticks);
    EXPECT_EQ(counted.counts.instructions,
              stepped.counts.instructions + printed[0] * timed.handler + rounds * timed.per_round);
    EXPECT_EQ(counted.counts.returns, stepped.counts.returns + printed[0]);
    EXPECT_EQ(counted.counts.far, stepped.counts.far + printed[0]);
    expect_exact(counted);
  }
}

INSTANTIATE_TEST_SUITE_P(engine, TimerTest,
                         testing::Values(TimerProgram{"rep_timer", 4, 0, 2}, TimerProgram{"block_timer", 18, 11, 2},
                                         TimerProgram{"exits_timer", 4, 13, 2}, TimerProgram{"shared_slots", 4, 18, 2}),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(SharedSlots, do_not_delay_signals) {
  const Counted counted = run_counted(command_of({"shared_slots", {"1", "2"}}));
  EXPECT_EQ(counted.outcome.code, 0) << counted.outcome.err;
  expect_exact(counted);
}

TEST(Loads, of_interrupted_string_instructions_are_whole) {
  const Counted quiet = run_stepped(command_of({"rep_timer", {}}));
  const Counted counted = run_counted(command_of({"rep_timer", {"1"}}));
  const uint64_t ticks = numbers(counted.outcome.out).at(0);
  // 64 rounds store the area and move all of it but 64 bytes; the quiet run's area is 128 bytes.
  const uint64_t more = 64 * ((uint64_t{64} << 20) - 128);
  // A handler run loads and stores the tick count, and its return loads.
  EXPECT_EQ(counted.counts.loads, quiet.counts.loads + more + 2 * ticks);
  EXPECT_EQ(counted.counts.stores, quiet.counts.stores + 2 * more + ticks);
}

}  // namespace
}  // namespace tally::engine_test
