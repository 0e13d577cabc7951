// Threads in numbers: nothing is lost when their blocks, counters and records are used again.
#include <fmt/format.h>

#include "tests/engine/expect.hpp"

namespace tally::engine_test {
namespace {

Counted batches(int n) {
  Command command;
  command.words = {std::string(PROGRAMS) + "/many_threads", fmt::format("{:03}", n)};
  const Counted counted = run_counted(command);
  EXPECT_EQ(counted.outcome.code, 0) << counted.outcome.err;
  expect_exact(counted);
  return counted;
}

TEST(Threads, fifty_thousand_count_what_a_few_count) {
  const Counts none = batches(0).counts, one = batches(1).counts;
  const Counts all = batches(250).counts;
  EXPECT_EQ(all.instructions, none.instructions + 250 * (one.instructions - none.instructions));
  EXPECT_EQ(all.conditional, none.conditional + 250 * (one.conditional - none.conditional));
  EXPECT_EQ(all.returns, none.returns + 250 * (one.returns - none.returns));
  EXPECT_EQ(all.stores, none.stores + 250 * (one.stores - none.stores));
}

}  // namespace
}  // namespace tally::engine_test
