// The numbers of descriptors are the program's, up to its limit and whatever it does with the limit.
#include <sys/resource.h>

#include "tests/engine/expect.hpp"

namespace tally::engine_test {
namespace {

class NumberTest : public testing::TestWithParam<const char*> {};

TEST_P(NumberTest, are_those_of_a_native_run) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_max < 9100) GTEST_SKIP() << "the hard limit on descriptors is " << limit.rlim_max;
  for (const char* kind : {"dynamic", "static"}) {
    SCOPED_TRACE(kind);
    Command command;
    command.words = {std::string(LIBC_PROGRAMS) + "/numbers_" + kind, GetParam()};
    const Outcome native = run_native(command);
    ASSERT_EQ(native.code, 0) << native.out << native.err;
    const Counted counted = run_counted(command);
    expect_same(counted.outcome, native);
    expect_exact(counted);
    EXPECT_GE(counted.counts.instructions, 1000u);
  }
}

INSTANTIATE_TEST_SUITE_P(engine, NumberTest,
                         testing::Values("named", "opened", "others", "by_messages", "few", "in_a_child"),
                         [](const auto& one) { return std::string(one.param); });

// The program's initial limit, and a number just below it, as shell redirections use.
TEST(Numbers, are_free_where_the_limit_is_low_from_the_start) {
  Command command;
  command.words = {
      "/bin/bash", "-c",
      R"(ulimit -n 64; exec "$0" stat -o /dev/null -- /bin/bash -c 'exec 60>&1; echo x >&60; exec 61>&60 63>&1; echo y >&63')",
      TALLY};
  const Outcome outcome = run_native(command);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "x\ny\n");
}

}  // namespace
}  // namespace tally::engine_test
