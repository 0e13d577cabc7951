// Restartable sequences are refused under the engine (docs/design/engine.md says why): programs work without them, and
// their counts are those of a native run without them.
#include <algorithm>

#include "tests/engine/expect.hpp"

namespace tally::engine_test {
namespace {

Command program(const char* kind, const char* user) {
  Command command;
  command.words = {std::string(LIBC_PROGRAMS) + "/rseq_" + kind, user};
  return command;
}

class RseqTest : public testing::TestWithParam<const char*> {};

TEST_P(RseqTest, the_c_library_does_without_and_counts_what_the_stepper_counts) {
  expect_as_stepped(program(GetParam(), "libc"), 0, true);
}

TEST_P(RseqTest, the_c_library_is_refused_them) {
  Command command = program(GetParam(), "libc");
  std::erase_if(command.environment, [](const std::string& one) { return one.starts_with("GLIBC_TUNABLES="); });
  const Counted counted = run_counted(command);
  EXPECT_EQ(counted.outcome.code, 0);
  EXPECT_EQ(counted.outcome.out, "not registered\n");
  expect_exact(counted);
  if (run_native(command).out != "registered\n") GTEST_SKIP() << "they are not offered natively either";
}

TEST_P(RseqTest, an_allocator_with_an_area_of_its_own_falls_back) {
  const Command command = program(GetParam(), "own");
  for (const int size : {0, 1}) {
    const Counted counted = run_counted(command, size);
    EXPECT_EQ(counted.outcome.code, 0);
    EXPECT_EQ(counted.outcome.out, "refused: Function not implemented\n");
    expect_exact(counted);
  }
  const Outcome native = run_native(command);
  EXPECT_EQ(native.code, 0);
  if (native.out != "registered\n") GTEST_SKIP() << "they are not offered natively either";
}

INSTANTIATE_TEST_SUITE_P(engine, RseqTest, testing::Values("dynamic", "static"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace tally::engine_test
