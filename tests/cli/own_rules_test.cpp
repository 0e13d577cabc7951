// `tally run`: calls on the descriptors of counters are answered as the kernel answers those on its own events. The
// program prints a line for each rule, once for software events natively and once for hardware events.
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

// `refused`: the kernel refuses all events, as with perf_event_paranoid 3 and in containers.
void compare_rules(const Words& refused) {
  const Finished natively = Running({OWN_RULES, "software"}).finish();
  if (natively.code() == 77) GTEST_SKIP() << "the kernel refuses all events";
  const Finished run = Running(with(refused, tally_words({"run", "--", OWN_RULES, "hardware"}))).finish();
  EXPECT_EQ(run.code(), 0) << run.err;
  std::istringstream expected(natively.out), answered(run.out);
  int rules = 0;
  for (std::string rule, answer; std::getline(expected, rule); ++rules) {
    ASSERT_TRUE(std::getline(answered, answer)) << rule;
    if (!refused.empty() && rule.starts_with("unknown flag")) continue;  // the filter answers
    EXPECT_EQ(answer, rule);
  }
  EXPECT_GT(rules, 140);
}

TEST(OwnRules, are_the_kernels) { compare_rules({}); }
TEST(OwnRules, are_the_kernels_where_it_refuses_all_events) { compare_rules({OWN_RULES, "refuse"}); }

}  // namespace
}  // namespace tally::test
