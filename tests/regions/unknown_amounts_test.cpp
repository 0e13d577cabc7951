// An event whose amounts some instructions do not reveal: no output calls it exact.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

using nlohmann::json;
using Trusts = std::map<std::string, std::string>;

Trusts trusts_of(const json& events) {
  Trusts trusts;
  for (const json& event : events) {
    const std::string name = event.contains("name") ? event["name"] : event["event"];
    trusts[name] = event["trust"];
  }
  return trusts;
}

const Trusts lacking{{"store-bytes:u", "partial"}, {"stores:u", "exact"}},
    whole{{"store-bytes:u", "exact"}, {"stores:u", "exact"}};

json result_of(const Words& command, const std::string& program_argument) {
  const TemporaryFile file("result.json");
  const Finished run = tally(with(command, {"-q", "--backend", "engine", "-e", "store-bytes,stores", "-o", file.path(),
                                            "--", UNKNOWN_AMOUNTS, program_argument}));
  const auto content = file.content();
  if (!content || content->empty()) ADD_FAILURE() << run.err;
  return content && !content->empty() ? json::parse(*content) : json();
}

class UnknownAmounts : public testing::TestWithParam<const char*> {};

TEST_P(UnknownAmounts, are_partial_in_the_command_its_processes_and_threads) {
  const json result = result_of({"stat", "--per-thread", "--per-process"}, GetParam());
  EXPECT_EQ(trusts_of(result["events"]), lacking);
  ASSERT_FALSE(result["processes"].empty()) << result;
  for (const char* parts : {"processes", "threads"})
    for (const json& one : result[parts]) EXPECT_EQ(trusts_of(one["events"]), lacking) << parts;
}

TEST_P(UnknownAmounts, are_partial_in_a_function) {
  const json result = result_of({"stat", "--function", "unknown"}, GetParam());
  for (const json& program : result["regions"])
    for (const json& region : program["regions"])
      if (region["region"] == "function unknown") EXPECT_EQ(trusts_of(region["events"]), lacking) << region;
}

TEST_P(UnknownAmounts, are_partial_in_the_region_of_the_library_that_had_them) {
  const json result = result_of({"stat"}, GetParam());
  std::map<std::string, Trusts> found;
  for (const json& program : result["regions"])
    for (const json& region : program["regions"]) found[region["region"]] = trusts_of(region["events"]);
  EXPECT_EQ(found, (std::map<std::string, Trusts>{{"known", whole}, {"unknown", lacking}})) << result;
}

TEST_P(UnknownAmounts, are_partial_in_a_profile) {
  EXPECT_EQ(trusts_of(result_of({"profile", "--format", "json"}, GetParam())["events"]), lacking);
}

TEST_P(UnknownAmounts, are_partial_in_the_windows_that_had_them) {
  const TemporaryFile file("windows.jsonl");
  const Finished run = tally({"sample", "-q", "--every", "500", "-e", "store-bytes,stores", "-o", file.path(), "--",
                              UNKNOWN_AMOUNTS, GetParam()});
  std::map<std::string, int> rows;
  std::istringstream lines(file.content().value_or(""));
  for (std::string line; std::getline(lines, line);) {
    const json row = json::parse(line);
    if (row.contains("counts")) ++rows[row["trust"]];
  }
  EXPECT_GE(rows["partial"], 2) << run.err;  // of each thread
  EXPECT_GT(rows["exact"], rows["partial"]);
}

TEST_P(UnknownAmounts, are_partial_in_readings_after_them) {
  const Finished run =
      tally({"stat", "-q", "--backend", "engine", "-e", "store-bytes", "--", UNKNOWN_AMOUNTS, GetParam()});
  EXPECT_EQ(run.out,
            "before store-bytes:u exact\nbefore stores:u exact\nafter store-bytes:u partial\nafter stores:u exact\n");
}

INSTANTIATE_TEST_SUITE_P(, UnknownAmounts, testing::Values("ended", "at_once"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace tally::test
