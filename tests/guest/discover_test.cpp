// `tally discover` on a PMU with two events, both of which count instructions: the guest's.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tally/linux/process/program_file.hpp"
#include "tests/cli/program.hpp"
#include "tests/guest/machine.hpp"

namespace tally::hardware_test {
namespace {

using Json = nlohmann::json;

// Arm's numbers of the two (Architecture Reference Manual, "Common event numbers").
constexpr std::uint64_t inst_retired = 0x08, cpu_cycles = 0x11;

// What an event may count, by its name and the others that fit.
std::vector<std::string> names_of(const Json& event) {
  std::vector<std::string> names;
  for (const Json& term : event["counts"]) names.push_back(term["coordinate"]);
  for (const Json& other : event["or"]) names.push_back(other["what"]);
  return names;
}

TEST(DiscoveredEvent, instructions_and_cycles_are_found_as_aliases_and_nothing_else_is_claimed) {
  TALLY_NEEDS_PMU();
  if (!is_guest()) GTEST_SKIP() << "real processors count more, and distinguish cycles from instructions";
  if (!linux::find_program("as", linux::search_path())) GTEST_SKIP() << "as is not installed (package binutils)";
  const test::Finished finished =
      test::tally({"discover", "--backend", "perf", "--events", "0x00-0x1f", "--payload", "two-loads", "--payload",
                   "always-taken", "--sizes", "4000,8000,16000,32000", "--repeats", "4", "--json"});
  ASSERT_EQ(finished.code(), 0) << finished.err;
  const Json result = Json::parse(finished.out);
  EXPECT_EQ(result["backend"], "perf");
  EXPECT_FALSE(result["incomplete"]);
  ASSERT_EQ(result["events"].size(), 32u);
  for (const Json& event : result["events"]) {
    const std::uint64_t code = event["code"];
    if (code != inst_retired && code != cpu_cycles) {
      EXPECT_EQ(event["class"], "dead") << event;
      continue;
    }
    EXPECT_EQ(event["class"], "counts") << event;
    EXPECT_EQ(names_of(event), (std::vector<std::string>{"instructions", "cycles"})) << event;
    EXPECT_EQ(event["same_as"], Json::array({code == inst_retired ? cpu_cycles : inst_retired})) << event;
    // In every payload a cycle is an instruction, so the output names no payload that would distinguish them.
    EXPECT_TRUE(event["or"][0]["splits"].is_null()) << event;
    EXPECT_NEAR(event["counts"][0]["each"].get<double>(), 1, 0.001) << event;
  }
}

}  // namespace
}  // namespace tally::hardware_test
