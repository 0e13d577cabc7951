// Programs that trace others of their tree: they see the same as natively, and no count of a traced program is exact.
#include "tests/engine/expect.hpp"

namespace tally::engine_test {
namespace {

class TracingTest : public testing::TestWithParam<const char*> {};

TEST_P(TracingTest, sees_the_program_and_not_the_engine) {
  Command command;
  command.words = {std::string(LIBC_PROGRAMS) + "/tracers_dynamic", GetParam()};
  const Outcome native = run_native(command);
  if (native.err.find("attach") != std::string::npos) GTEST_SKIP() << "this system allows no ptrace: " << native.err;
  ASSERT_EQ(native.code, 0) << native.err;
  const Counted counted = run_counted(command);
  expect_same(counted.outcome, native);
  EXPECT_FALSE(counted.exact);
  EXPECT_NE(counted.problem.find("it traces another process or is traced: traced processes run natively"),
            std::string::npos)
      << counted.problem;
}

INSTANTIATE_TEST_SUITE_P(engine, TracingTest,
                         testing::Values("calls", "fault", "registers", "threads", "seize", "executes", "writes",
                                         "memory", "seize_stopped", "attach_stopped", "seize_computing",
                                         "attach_computing"),
                         [](const auto& one) { return std::string(one.param); });

// The single-stepper traces the program, so that ptrace() fails in it.
TEST(Tracing, is_not_counted_by_single_stepping) {
  Command command;
  command.words = {TALLY,  "stat",         "--backend", "stepper",
                   "-e",   "instructions", "--",        std::string(LIBC_PROGRAMS) + "/tracers_static",
                   "calls"};
  const Outcome outcome = run_native(command);
  EXPECT_NE(outcome.err.find("traces processes, which single-stepping does"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace tally::engine_test
