// The counts of a program that writes over the engine's memory are not reported as exact.
#include "tests/engine/expect.hpp"

namespace tally::engine_test {
namespace {

class ScribblesTest : public testing::TestWithParam<const char*> {};

TEST_P(ScribblesTest, no_count_is_exact) {
  for (const char* const kind : {"dynamic", "static"}) {
    Command command;
    command.words = {std::string(LIBC_PROGRAMS) + "/scribbles_" + kind, GetParam()};
    const Outcome native = run_native(command);
    ASSERT_EQ(native.code, 3) << native.err;
    const Counted counted = run_counted(command);
    // Records of all ones make the engine fail: it reports it, and the program ends.
    if (std::string(GetParam()) != "records") expect_same(counted.outcome, native);
    EXPECT_FALSE(counted.exact) << counted.counts.instructions;
    // Processes whose records are zeroes look as if they had not started.
    const bool is_native =
        std::string(GetParam()) == "zeroes" && counted.problem.find("ran natively") != std::string::npos;
    if (std::string(GetParam()) == "counters") {
      command.words.insert(command.words.begin(), {TALLY, "run", "--strict", "--"});
      const Outcome strict = run_native(command);
      EXPECT_EQ(strict.code, 125) << strict.err;
      EXPECT_NE(strict.err.find("written over"), std::string::npos) << strict.err;
    }
    EXPECT_TRUE(is_native || counted.problem.find("written over") != std::string::npos) << counted.problem;
  }
}

INSTANTIATE_TEST_SUITE_P(engine, ScribblesTest, testing::Values("counters", "records", "zeroes"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace tally::engine_test
