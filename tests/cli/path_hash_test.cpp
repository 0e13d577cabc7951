// `tally stat --path-hash`: hashes of the executed path, which depend on nothing but the path.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

using nlohmann::json;

/// The result of a run with path hashes.
json hashed(const Words& options, const Words& program) {
  const TemporaryFile file("result.json");
  const Finished run = tally(with(with({"stat", "-q", "--backend", "engine", "-e", "instructions", "--path-hash",
                                        "--path-interval", "10000", "--format", "json", "-o", file.path()},
                                       options),
                                  with({"--"}, program)));
  EXPECT_EQ(run.code(), 0) << run.err;
  return json::parse(file.content().value_or("null"));
}

/// The paths without what names the run.
json paths(const json& result) {
  json list = result["runs"][0]["paths"];
  for (json& one : list) {
    one.erase("pid");
    one.erase("tid");
  }
  return list;
}

TEST(PathHashes, are_stored_at_every_interval_of_each_thread) {
  const json result = hashed({"--repeatable"}, {PARTING, "none"});
  const json list = paths(result);
  ASSERT_EQ(list.size(), 1U) << list;
  const json& path = list[0];
  EXPECT_EQ(path["program"], "parting");
  EXPECT_EQ(path["process"], 1);
  EXPECT_EQ(path["thread"], 1);
  EXPECT_TRUE(path["complete"].get<bool>());
  EXPECT_EQ(path["interval"], 10000);
  EXPECT_EQ(path["instructions"], result["events"][0]["value"]);
  EXPECT_EQ(path["hashes"].size(), path["instructions"].get<std::uint64_t>() / 10000);
  EXPECT_NE(path["hashes"][0], path["hashes"][1]);
}

class PathHashesOfOneProgram : public testing::TestWithParam<Words> {};

TEST_P(PathHashesOfOneProgram, do_not_depend_on_how_the_engine_translates_it) {
  const Words program{PARTING, "variable"};
  EXPECT_EQ(paths(hashed(with({"--repeatable"}, GetParam()), program)), paths(hashed({"--repeatable"}, program)));
}

INSTANTIATE_TEST_SUITE_P(cli, PathHashesOfOneProgram,
                         testing::Values(Words{}, Words{"--block-size", "1"}, Words{"--block-size", "3"},
                                         Words{"--hot-from", "1"}, Words{"--cache-limit", "50"},
                                         Words{"--hot-from", "1", "--cache-limit", "200"}));

TEST(PathHashes, do_not_depend_on_the_addresses_of_the_program) {
  const json first = paths(hashed({}, {STATIC_PARTING, "none"}));
  ASSERT_FALSE(first.empty());
  // Each run has other addresses. Sometimes the C library takes another path for them, so one of several must be equal.
  bool is_equal = false;
  for (int i = 0; i < 6 && !is_equal; ++i) is_equal = paths(hashed({}, {STATIC_PARTING, "none"})) == first;
  EXPECT_TRUE(is_equal) << first;
}

TEST(PathHashes, differ_between_paths) {
  ::setenv("TALLY_TEST_CHOICE", "1", 1);
  const json chosen = paths(hashed({"--repeatable"}, {PARTING, "variable"}));
  ::setenv("TALLY_TEST_OTHERS", "1", 1);
  ::unsetenv("TALLY_TEST_CHOICE");
  const json other = paths(hashed({"--repeatable"}, {PARTING, "variable"}));
  ::unsetenv("TALLY_TEST_OTHERS");
  EXPECT_NE(chosen[0]["end"], other[0]["end"]);
}

TEST(PathHashes, become_fewer_when_there_are_too_many) {
  const TemporaryFile file("result.json");
  const Finished run = tally({"stat", "-q", "--backend", "engine", "-e", "instructions", "--repeatable", "--path-hash",
                              "--path-interval", "100", "--format", "json", "-o", file.path(), "--", PARTING, "none"});
  ASSERT_EQ(run.code(), 0) << run.err;
  const json path = json::parse(file.content().value_or("null"))["runs"][0]["paths"][0];
  const auto interval = path["interval"].get<std::uint64_t>();
  EXPECT_GT(interval, 100U);
  EXPECT_EQ(interval % 100, 0U);
  EXPECT_LE(path["hashes"].size(), 1024U);
  // The same hashes as with that interval from the start.
  const TemporaryFile wide("wide.json");
  tally({"stat", "-q", "--backend", "engine", "-e", "instructions", "--repeatable", "--path-hash", "--path-interval",
         std::to_string(interval), "--format", "json", "-o", wide.path(), "--", PARTING, "none"});
  EXPECT_EQ(json::parse(wide.content().value_or("null"))["runs"][0]["paths"][0]["hashes"], path["hashes"]);
}

TEST(PathHashes, come_with_the_conditions_of_the_run_and_without_values_of_variables) {
  ::setenv("TALLY_TEST_SECRET", "correct-horse", 1);
  const json start = hashed({}, {PARTING, "none"})["start"];
  ::unsetenv("TALLY_TEST_SECRET");
  EXPECT_EQ(start["streams"].size(), 3U);
  EXPECT_GT(start["program"]["bytes"], 0);
  bool found = false;
  for (const json& one : start["environment"]) {
    if (one["name"] != "TALLY_TEST_SECRET") continue;
    found = true;
    EXPECT_EQ(one["bytes"], 13);
    EXPECT_LT(one["check"], 0x10000);
  }
  EXPECT_TRUE(found);
  EXPECT_EQ(start.dump().find("horse"), std::string::npos);
}

TEST(PathHashes, are_refused_with_what_they_cannot_be_combined_with) {
  for (const Words& options : {Words{"--backend", "none"}, Words{"-I", "100"}, Words{"--function", "main"},
                               Words{"--model", "haswell", "-e", "cycles"}}) {
    const Finished run = tally(with(with({"stat", "--path-hash"}, options), {"--", PARTING, "none"}));
    EXPECT_EQ(run.code(), 2) << run.err;
    EXPECT_NE(run.err.find("--path-hash"), std::string::npos) << run.err;
  }
  EXPECT_EQ(tally({"stat", "--path-interval", "5", "--", PARTING, "none"}).code(), 2);
}

}  // namespace
}  // namespace tally::test
