// The examples, as their first lines say that they are run. Under the engine: it counts everywhere.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

using nlohmann::json;

// The regions that a program wrote by itself, by name.
std::map<std::string, json> regions_of(const Words& program) {
#if !TALLY_HAS_SIM
  ADD_FAILURE() << "there is no engine";
#endif
  const TemporaryFile file("regions.json");
  Words words{"/usr/bin/env",
              "TALLY_OUTPUT=" + file.path(),
              "TALLY_EVENTS=instructions,loads",
              TALLY_COMMAND,
              "stat",
              "-q",
              "-e",
              "instructions",
              "-o",
              "/dev/null",
              "--"};
  words.insert(words.end(), program.begin(), program.end());
  const Finished finished = Running(words).finish();
  EXPECT_EQ(finished.code(), 0) << finished.err;
  std::map<std::string, json> regions;
  const auto text = file.content();
  EXPECT_TRUE(text) << finished.err;
  if (!text) return regions;
  const json all = json::parse(*text);
  for (const json& region : all.at("regions")) regions[region.at("region")] = region;
  return regions;
}

std::int64_t value(const json& region, std::size_t event) {
  EXPECT_EQ(region.at("events").at(event).at("trust"), "exact");
  return region.at("events").at(event).at("value").get<std::int64_t>();
}

TEST(Examples, regions_in_c) {
  auto regions = regions_of({std::string(BUILT) + "/regions_c"});
  ASSERT_EQ(regions.size(), 2u);
  for (const char* name : {"one by one", "by halves"}) EXPECT_EQ(regions[name].at("entries"), 1000);
  // 1,000 numbers at 499.5 places, and some ten looks for each of them.
  EXPECT_GE(value(regions["one by one"], 1), 499'500);
  EXPECT_LE(value(regions["one by one"], 1), 503'000) << "what the marks cost is taken off";
  EXPECT_GE(value(regions["by halves"], 1), 9'000);
  EXPECT_LE(value(regions["by halves"], 1), 20'000);
}

TEST(Examples, regions_in_python) {
  auto regions = regions_of({"python3", std::string(EXAMPLES) + "/regions.py", LIBRARY});
  ASSERT_EQ(regions.size(), 3u);
  EXPECT_EQ(regions["nothing"].at("entries"), 10);
  EXPECT_LT(value(regions["nothing"], 0), value(regions["join"], 0));
  EXPECT_LT(value(regions["join"], 0), value(regions["add"], 0));
}

}  // namespace
}  // namespace tally::test
