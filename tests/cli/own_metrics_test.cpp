// `tally run`: programs find the slots and metrics of Intel's processors as the kernel has them.
#include <gtest/gtest.h>

#include <string>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

std::string opened(const Words& options) {
  const Finished run = tally(with(with({"run"}, options), {"--", OWN_METRICS}));
  if (run.err.find("this processor lacks") != std::string::npos) return {};
  EXPECT_EQ(run.code(), 0) << run.err;
  return run.out;
}

constexpr const char* rules =
    "slots: opened\n"
    "metric alone: Invalid argument\n"
    "metric of instructions: Invalid argument\n"
    "sampled metric: Invalid argument\n"
    "sampled slots: Operation not supported\n";

TEST(OwnMetrics, divide_the_slots_of_all_cycles) {
  const std::string icelake = opened({"--model", "icelake", "--cpu-model", "icelake"});
  if (icelake.empty()) GTEST_SKIP() << "the CPU model icelake needs instructions that this processor lacks";
  EXPECT_EQ(icelake, std::string(rules) +
                         "heavy operations: No such file or directory\n"
                         "chain: 5.00 slots in a cycle, most of them wait, classes have all\n"
                         "nops: 5.00 slots in a cycle, most of them retire, classes have all\n");
}

TEST(OwnMetrics, are_missing_on_other_processors_and_without_a_model) {
  for (const Words& options : {Words{"--model", "icelake", "--cpu-model", "haswell"}, Words{"--cpu-model", "icelake"}})
    if (const std::string out = opened(options); !out.empty())
      EXPECT_TRUE(out.starts_with("slots: No such file or directory\n")) << out;
}

}  // namespace
}  // namespace tally::test
