// `tally run`: calls on the descriptors of counters are answered as the kernel answers those on its own events. The
// program prints a line for each rule, once for software events natively and once for hardware events.
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

TEST(OwnRules, are_the_kernels) {
  const Finished natively = Running({OWN_RULES, "software"}).finish();
  if (natively.code() == 77) GTEST_SKIP() << "the kernel refuses all events";
  const Finished run = tally({"run", "--", OWN_RULES, "hardware"});
  EXPECT_EQ(run.code(), 0) << run.err;
  std::istringstream expected(natively.out), answered(run.out);
  int rules = 0;
  for (std::string rule, answer; std::getline(expected, rule); ++rules) {
    ASSERT_TRUE(std::getline(answered, answer)) << rule;
    EXPECT_EQ(answer, rule);
  }
  EXPECT_GT(rules, 140);
}

}  // namespace
}  // namespace tally::test
