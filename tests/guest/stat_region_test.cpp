// Regions of a program under `tally stat` with a PMU: both need its counters.
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"
#include "tests/guest/machine.hpp"

namespace tally::hardware_test {
namespace {

using nlohmann::json;

json stat(const std::string& events, const std::string& events_of_regions) {
  const test::Finished finished =
      test::tally({"stat", "--format", "json", "-o", "-", "-e", events, "--", REGIONAL, events_of_regions});
  EXPECT_EQ(finished.code(), 0) << finished.out << finished.err;
  return json::parse(finished.out);
}

void expect_work(const json& result) {
  const json& region = result.at("regions").at(0).at("regions").at(0);
  EXPECT_EQ(region.at("region"), "work");
  EXPECT_EQ(region.at("entries"), 1000);
  EXPECT_EQ(region.at("dropped"), 0);
  EXPECT_EQ(region.at("events").at(0).at("least"), 103);
  EXPECT_EQ(region.at("events").at(0).at("value"), 103'000);
  EXPECT_EQ(region.at("events").at(0).at("trust"), "counted");
}

TEST(StatRegions, and_totals_are_counted_if_there_is_room_for_both) {
  TALLY_NEEDS_GUEST();
  const json result = stat("instructions,cycles", "instructions,cycles");
  expect_work(result);
  for (const json& event : result.at("events")) EXPECT_EQ(event.at("trust"), "counted") << event;
}

TEST(StatRegions, are_counted_first_and_totals_are_absent_then) {
  TALLY_NEEDS_GUEST();
  const json result = stat("instructions,cycles,instructions:k,cycles:k,instructions:uk,cycles:uk",
                           "instructions,cycles,instructions:k,cycles:k");
  expect_work(result);
  int absent = 0;
  for (const json& event : result.at("events")) {
    if (event.at("trust") == "counted") continue;
    EXPECT_EQ(event.at("trust"), "absent") << event;
    EXPECT_NE(event.at("reason").get<std::string>().find("the program's regions used its counter"), std::string::npos)
        << event;
    ++absent;
  }
  EXPECT_GE(absent, 1);
}

}  // namespace
}  // namespace tally::hardware_test
