// The examples, run as their first lines say. Under the engine, because it counts everywhere.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

using nlohmann::json;

// The regions that a program wrote by itself, by name.
std::map<std::string, json> regions_of(const Words& program, const std::string& events = "instructions,loads",
                                       const std::string& histograms = "") {
#if !TALLY_HAS_ENGINE
  ADD_FAILURE() << "there is no engine";
#endif
  const TemporaryFile file("regions.json");
  Words words{"/usr/bin/env",
              "TALLY_OUTPUT=" + file.path(),
              "TALLY_EVENTS=" + events,
              "TALLY_HISTOGRAMS=" + histograms,
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
  // 1,000 numbers after 499.5 comparisons, and some nine probes for each of them.
  EXPECT_GE(value(regions["one by one"], 1), 499'500);
  EXPECT_LE(value(regions["one by one"], 1), 503'000) << "the cost of the region calls is subtracted";
  EXPECT_GE(value(regions["by halves"], 1), 8'000);
  EXPECT_LE(value(regions["by halves"], 1), 20'000);
}

TEST(Examples, what_is_absent_has_no_histogram) {
  auto regions = regions_of({std::string(BUILT) + "/regions_c"}, "instructions,L1-load-hits", "*");
  const json& region = regions["one by one"];
  EXPECT_FALSE(region.at("events").at(0).at("histogram").empty());
  const json& absent = region.at("events").at(1);
  EXPECT_EQ(absent.at("trust"), "absent");
  EXPECT_TRUE(absent.find("histogram") == absent.end() || absent.at("histogram").empty()) << absent;
  EXPECT_NE(absent.at("reason").get<std::string>().find("tally stat --model host"), std::string::npos) << absent;
}

TEST(Examples, regions_in_python) {
  auto regions = regions_of({"python3", std::string(EXAMPLES) + "/regions.py", LIBRARY});
  ASSERT_EQ(regions.size(), 3u);
  EXPECT_EQ(regions["nothing"].at("entries"), 10);
  // Ten entries of a thousand words: joining them is some copies a word, adding each is an operation of the
  // interpreter.
  EXPECT_GT(value(regions["join"], 0), value(regions["nothing"], 0) + 10 * 1000 * 10);
  EXPECT_GT(value(regions["add"], 0), value(regions["join"], 0) + 10 * 1000 * 100);
}

std::string reported_by(const Words& program) {
  Words words{"/usr/bin/env", "TALLY_EVENTS=instructions,loads",
              TALLY_COMMAND,  "stat",
              "-q",           "-e",
              "instructions", "-o",
              "/dev/null",    "--"};
  words.insert(words.end(), program.begin(), program.end());
  const Finished finished = Running(words).finish();
  EXPECT_EQ(finished.code(), 0) << finished.out << finished.err;
  return finished.out;
}

TEST(Examples, factorial_follows_its_formula) {
  const std::string output = reported_by({std::string(BUILT) + "/factorial"});
  for (const int n : {1, 2, 20, 1000}) {
    const int least = 5 * n - 2;
    bool any = false;
    for (int more = 0; more <= 2; ++more) {
      const std::string each = std::to_string(least + more);
      any = any || output.find("counted " + std::string(each.size() < 4 ? 4 - each.size() : 0, ' ') + each + " to " +
                               each + " (exact)\n") != std::string::npos;
    }
    EXPECT_TRUE(any) << n << "\n" << output;
  }
}

TEST(Examples, strides_read_every_number) {
  const std::string output = reported_by({std::string(BUILT) + "/strides"});
  for (const char* stride : {"stride 1 ", "stride 16 ", "stride 4096 "}) {
    EXPECT_NE(output.find(stride), std::string::npos) << output;
  }
  EXPECT_NE(output.find(" GB/s   instructions:u "), std::string::npos) << output;
  EXPECT_EQ(output.find("absent"), std::string::npos) << output;
}

TEST(Examples, clocks_go_on_while_a_program_sleeps) {
  const std::string output = reported_by({std::string(BUILT) + "/clocks"});
  const auto instructions = [&](const std::string& name) {
    const std::size_t line = output.find(name);
    const std::string event = "instructions:u ";
    return std::stoll(output.substr(output.find(event, line) + event.size()));
  };
  EXPECT_LT(10 * instructions("sleep "), instructions("spin ")) << output;
  EXPECT_LT(instructions("sleep "), 100) << "the call, without the cost of reading: " << output;
}

}  // namespace
}  // namespace tally::test
