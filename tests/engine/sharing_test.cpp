// A process that shares its memory with others is killed, at a random moment and while it holds each of the engine's
// locks: the others continue as natively.
#include "tests/engine/expect.hpp"

namespace tally::engine_test {
namespace {

Command sharers(std::vector<std::string> words) {
  Command command;
  command.words = std::move(words);
  command.words.insert(command.words.begin(), std::string(LIBC_PROGRAMS) + "/sharers_dynamic");
  command.environment.push_back("TALLY_ENGINE_TEST=fail");
  command.options = {"--timeout", "1000000"};
  return command;
}

class SharingTest : public testing::TestWithParam<const char*> {
 protected:
  /// A system may forbid pid namespaces.
  static bool is_refused(const Outcome& native) { return native.code == 94 && GetParam() == std::string("namespace"); }
};

TEST_P(SharingTest, continue_whatever_the_killed_one_held) {
  const Command command = sharers({"held", GetParam()});
  const Outcome native = run_native(command);
  if (is_refused(native)) GTEST_SKIP() << "this system allows no pid namespace";
  ASSERT_EQ(native.code, 0) << native.err;
  const Counted counted = run_counted(command);
  expect_same(counted.outcome, native);
  EXPECT_FALSE(counted.exact);
  EXPECT_NE(counted.problem.find("it was killed"), std::string::npos) << counted.problem;
}

TEST_P(SharingTest, continue_when_one_is_killed_at_a_random_moment) {
  const Command command = sharers({"random", GetParam(), std::to_string(SHARING_ROUNDS)});
  const Outcome native = run_native(command);
  if (is_refused(native)) GTEST_SKIP() << "this system allows no pid namespace";
  ASSERT_EQ(native.code, 0) << native.err;
  const Counted counted = run_counted(command);
  expect_same(counted.outcome, native);
  EXPECT_FALSE(counted.exact);
}

INSTANTIATE_TEST_SUITE_P(engine, SharingTest, testing::Values("vfork", "clone", "parent", "namespace"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace tally::engine_test
