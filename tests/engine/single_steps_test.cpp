// Instructions that cannot be copied as they are are written anew: what is executed one at a time costs a hundred times
// what a system call does. The JSON counts it.
#include "tests/engine/expect.hpp"

namespace tally::engine_test {
namespace {

Command program(const char* name, std::vector<std::string> arguments = {}) {
  Command command;
  command.words = {std::string(PROGRAMS) + "/" + name};
  command.words.insert(command.words.end(), arguments.begin(), arguments.end());
  return command;
}

TEST(SingleSteps, are_none_for_bits_that_mean_nothing_and_far_returns) {
  const Command command = program("meaningless_bits");
  expect_as_stepped(command, 0, true);
  for (const int size : block_sizes) EXPECT_EQ(run_counted(command, size).single_stepped, 0u) << size;
}

TEST(SingleSteps, are_counted) {
  const Command command = program("meaningless_bits", {"far"});
  expect_as_stepped(command, 0, true);
  EXPECT_EQ(run_counted(command).single_stepped, 100u);
}

// A compiler asks for it to see whether it may use the register.
TEST(GsBase, may_be_read) {
  const Command command = program("reads_gs_base");
  expect_as_stepped(command, 0, true);
}

}  // namespace
}  // namespace tally::engine_test
