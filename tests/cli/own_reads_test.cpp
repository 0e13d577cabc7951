// Counters that programs read by rdpmc, in code that the engine translates again for this after some reads.
#include <gtest/gtest.h>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

class OwnReads : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(OwnReads, by_rdpmc_equal_those_by_read) {
  for (const char* const period : {"0", "10007"}) {
    std::vector<std::string> command{"stat", "-q", "--pmu", "-o", "/dev/null"};
    command.insert(command.end(), GetParam().begin(), GetParam().end());
    command.insert(command.end(), {"--", OWN_READS, period});
    const Finished run = tally(command);
    EXPECT_EQ(run.out, "0 wrong: 6 1 0 0\n0 wrong: 6 1 0 0\n0 wrong: 6 1 0 0\n") << period << run.err;
  }
}

using Options = std::vector<std::string>;
INSTANTIATE_TEST_SUITE_P(All, OwnReads,
                         testing::Values(Options{}, Options{"--block-size", "1"}, Options{"--hot-from", "50"},
                                         Options{"--model", "haswell"}));

}  // namespace
}  // namespace tally::test
