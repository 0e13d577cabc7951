// `tally verify` on a PMU: the guest's is exact.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"
#include "tests/guest/machine.hpp"

namespace tally::hardware_test {
namespace {

using Json = nlohmann::json;

TEST(VerifiedPmu, counts_instructions_as_the_programs_execute_them) {
  TALLY_NEEDS_PMU();
  const test::Finished finished = test::tally({"verify", "--quick", "--json", "--backend", "perf"});
  ASSERT_EQ(finished.code(), 0) << finished.out << finished.err;
  const Json result = Json::parse(finished.out);
  EXPECT_EQ(result["verdict"], "pass");
  for (const Json& event : result["events"]) {
    if (event["event"] == "instructions:u") {
      EXPECT_TRUE(event["grade"] == "exact" || (event["grade"] == "correctable" && !is_guest())) << event;
      EXPECT_GT(event["runs"], 50);
    }
  }
  for (const Json& check : result["checks"]) {
    EXPECT_NE(check["verdict"], "fail") << check;
    EXPECT_EQ(check["verdict"] == "pass", check["why"].is_null()) << check;
  }
}

}  // namespace
}  // namespace tally::hardware_test
