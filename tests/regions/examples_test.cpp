// The examples, run as their first lines say. Under the engine, because it counts everywhere.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

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

// An example of a test framework, run under the engine or alone. Skips the test if the framework is missing.
struct Example {
  int code = -1;
  std::string out;
};

Example framework_example(const std::string& name, const Words& arguments, bool is_counted) {
  const std::string program = std::string(BUILT) + "/" + name;
  if (!std::filesystem::exists(program)) return {};
  Words words{"/usr/bin/env", "TALLY_EVENTS=instructions"};
  if (is_counted) {
    for (const char* word : {TALLY_COMMAND, "stat", "-q", "-e", "instructions", "-o", "/dev/null", "--"})
      words.emplace_back(word);
  }
  words.push_back(program);
  words.insert(words.end(), arguments.begin(), arguments.end());
  const Finished finished = Running(words).finish();
  return {finished.code(), finished.out + finished.err};
}

bool has(const Example& example, const std::string& text) { return example.out.find(text) != std::string::npos; }

class TestFrameworks : public testing::TestWithParam<std::tuple<const char*, const char*, const char*, const char*>> {};

TEST_P(TestFrameworks, fail_above_the_limit) {
  const auto [name, failing, passed, skipped] = GetParam();
  const Example kept = framework_example(name, {}, true);
  if (kept.code == -1) GTEST_SKIP() << name << " was not built: its framework is missing";
  EXPECT_EQ(kept.code, 0) << kept.out;
  EXPECT_TRUE(has(kept, passed)) << kept.out;
  const Example exceeded = framework_example(name, {failing}, true);
  EXPECT_EQ(exceeded.code, 1) << exceeded.out;
  EXPECT_TRUE(has(exceeded, "sum: instructions:u ")) << exceeded.out;
  EXPECT_TRUE(has(exceeded, "at most 100")) << exceeded.out;
}

TEST_P(TestFrameworks, skip_where_nothing_is_counted) {
  const auto [name, failing, passed, skipped] = GetParam();
  const Example example = framework_example(name, {}, false);
  if (example.code == -1) GTEST_SKIP() << name << " was not built: its framework is missing";
  if (has(example, "(counted)") || !has(example, "is not counted")) GTEST_SKIP() << "this machine has a PMU";
  EXPECT_TRUE(has(example, skipped)) << example.out;
}

INSTANTIATE_TEST_SUITE_P(Examples, TestFrameworks,
                         testing::Values(std::tuple{"limits_gtest", "--gtest_also_run_disabled_tests",
                                                    "[  PASSED  ] 1 test", "[  SKIPPED ] 1 test"},
                                         std::tuple{"limits_catch2", "[.]", "All tests passed (2 assertions",
                                                    "skipped: sum: instructions is not counted"}),
                         [](const auto& each) { return std::string(std::get<0>(each.param)); });

TEST(Examples, benchmark_reports_exact_instructions) {
  const Example example = framework_example("benchmark", {"--benchmark_format=csv"}, true);
  if (example.code == -1) GTEST_SKIP() << "the example was not built: google-benchmark is missing (libbenchmark-dev)";
  EXPECT_EQ(example.code, 0) << example.out;
  std::vector<std::int64_t> instructions;
  for (const char* name : {"\"sum/1000", "\"sum/2000", "\"sum/3000"}) {
    const std::size_t line = example.out.find(name);
    ASSERT_NE(line, std::string::npos) << example.out;
    const std::string row = example.out.substr(line, example.out.find('\n', line) - line);
    const std::size_t loads = row.rfind(','), before = row.rfind(',', loads - 1);
    instructions.push_back(std::stoll(row.substr(before + 1)));
  }
  // Each thousand numbers cost the same: nothing of the loop, the timer or the reads is counted.
  EXPECT_EQ(instructions[2] - instructions[1], instructions[1] - instructions[0]) << example.out;
  EXPECT_GE(instructions[0], 500) << example.out;
}

}  // namespace
}  // namespace tally::test
