// Instructions that cannot be copied unchanged are rewritten: executing one at a time costs a hundred times as much as
// a system call. The JSON reports their number.
#include "tests/engine/expect.hpp"

namespace tally::engine_test {
namespace {

Command program(const char* name, std::vector<std::string> arguments = {}) {
  Command command;
  command.words = {std::string(PROGRAMS) + "/" + name};
  command.words.insert(command.words.end(), arguments.begin(), arguments.end());
  return command;
}

TEST(SingleSteps, are_none_for_meaningless_bits_and_far_returns) {
  const Command command = program("meaningless_bits");
  expect_as_stepped(command, 0, true);
  for (const int size : block_sizes()) EXPECT_EQ(run_counted(command, size).single_stepped, 0u) << size;
}

TEST(SingleSteps, are_counted) {
  const Command command = program("meaningless_bits", {"far"});
  expect_as_stepped(command, 0, true);
  EXPECT_EQ(run_counted(command).single_stepped, 100u);
}

// A program that steps itself runs each instruction at its own address.
TEST(SingleSteps, count_branches_as_without) {
  const Counted quick = run_counted(program("stepped_branches")),
                slow = run_counted(program("stepped_branches", {"t"}));
  for (const Counted* run : {&quick, &slow}) {
    EXPECT_EQ(run->outcome.code, 0);
    expect_exact(*run);
  }
  EXPECT_GT(slow.counts.instructions, quick.counts.instructions + 50);
  EXPECT_EQ(slow.counts.conditional, quick.counts.conditional);
  EXPECT_EQ(slow.counts.taken, quick.counts.taken);
  expect_as_stepped(program("stepped_branches"), 0, true);
}

// The trap comes after the instruction that follows the one that sets the flag, whatever that is.
TEST(SingleSteps, begin_after_the_next_instruction) {
  const Outcome native = run_native(program("first_trap"));
  ASSERT_EQ(native.code, 0) << native.err;
  for (const int size : {0, 1, 3}) {
    const Counted counted = run_counted(program("first_trap"), size);
    expect_same(counted.outcome, native);
    expect_exact(counted);
  }
}

// A compiler reads it to find out whether it may use the register.
TEST(GsBase, may_be_read) {
  const Command command = program("reads_gs_base");
  expect_as_stepped(command, 0, true);
}

}  // namespace
}  // namespace tally::engine_test
