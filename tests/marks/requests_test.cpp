// Marks that programs carry for other tools: regions of `tally stat`, parts of `tally profile`, and their agreement
// with callgrind.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

using nlohmann::json;

/// What a region counted: entries and instructions.
using Region = std::pair<std::int64_t, std::int64_t>;
using Regions = std::map<std::string, Region>;

Finished run_requests(const Words& options, const std::string& what) {
  return tally(
      with(with({"stat", "--backend", "engine", "-q", "-e", "instructions"}, options), {"--", REQUESTS, what}));
}

json result_of(const Words& options, const std::string& what) {
  const TemporaryFile file("result.json");
  const Finished finished = run_requests(with({"--format", "json", "-o", file.path()}, options), what);
  EXPECT_EQ(finished.code(), 0) << finished.err;
  return json::parse(file.content().value_or(""), nullptr, false);
}

Regions regions_of(const json& result) {
  Regions made;
  if (!result.contains("regions")) return made;
  for (const json& process : result["regions"])
    for (const json& region : process["regions"])
      made[region["region"]] = {region["entries"], region["events"][0]["value"]};
  return made;
}

/// However the engine cuts code into traces, discards them or creates them again.
class Requests : public testing::TestWithParam<Words> {
 protected:
  static Regions regions(const std::string& what) { return regions_of(result_of(GetParam(), what)); }
};

const Regions sections{{"first", {1, 2002}}, {"second", {2, 2004}}, {"part 3", {1, 62}}, {"collected", {1, 22}}};

TEST_P(Requests, of_instrumentation_divide_the_run) { EXPECT_EQ(regions("instrumentation"), sections); }

TEST_P(Requests, of_collection_divide_the_run) { EXPECT_EQ(regions("collection"), sections); }

TEST_P(Requests, concern_one_thread_or_all) {
  const Regions found = regions("threads");
  EXPECT_EQ(found.at("toggled"), (Region{2, 4004}));
  EXPECT_LT(found.at("main").second, 100000) << "a thread's collection is its own";
  const std::int64_t all = regions("all threads").at("busy").second;
  EXPECT_GE(all, 2 * 200002);
  EXPECT_LT(all, 2 * 200002 + 20000);
}

TEST_P(Requests, of_a_forked_child_are_its_own) {
  EXPECT_EQ(regions("fork"), (Regions{{"parent", {1, 402}}, {"child", {1, 602}}}));
}

TEST_P(Requests, are_made_once_whatever_signals_arrive) {
  const Regions found = regions("signals");
  EXPECT_EQ(found.at("handler"), (Region{1, 102}));
  const auto [entries, count] = found.at("interrupted");
  EXPECT_GE(entries, 2000);
  EXPECT_GE(count, entries * 402);
}

TEST_P(Requests, are_no_requests_if_the_program_jumps_into_them) {
  EXPECT_EQ(regions("middle"), (Regions{{"middle", {1, 22}}}));
}

TEST_P(Requests, are_seen_in_code_that_changes) {
  EXPECT_EQ(regions("generated"), (Regions{{"as copied", {1, 202}}, {"as before", {1, 402}}}));
}

TEST_P(Requests, of_other_tools_are_seen) {
  EXPECT_EQ(regions("ssc"), (Regions{{"ssc", {1, 202}}}));
  EXPECT_EQ(regions("sniper"),
            (Regions{{"named", {1, 202}}, {"marker 3:18446744073709551615", {1, 22}}, {"roi", {1, 42}}}));
}

INSTANTIATE_TEST_SUITE_P(engine, Requests,
                         testing::Values(Words{}, Words{"--block-size", "1"}, Words{"--hot-from", "1"},
                                         Words{"--cache-limit", "40"}));

TEST(RequestsNatively, return_what_they_return_natively) { EXPECT_EQ(run_requests({}, "answers").out, "0 7\n"); }

TEST(RequestsNatively, do_not_change_the_total) {
  const json once = result_of({"--repeatable"}, "collection"), again = result_of({"--repeatable"}, "collection");
  EXPECT_EQ(once["events"][0]["value"], again["events"][0]["value"]);
  EXPECT_EQ(once["events"][0]["trust"], "exact");
}

/// The instructions of each part, by what ended it. A file for each part: the last one has no number.
std::map<std::string, std::int64_t> parts_of(const std::string& file, int last) {
  std::map<std::string, std::int64_t> made;
  for (int i = 1; i <= last; ++i) {
    std::ifstream lines(i == last ? file : file + "." + std::to_string(i));
    std::string line, trigger;
    std::int64_t number = 0, total = -1;
    while (std::getline(lines, line)) {
      if (line.starts_with("part: ")) number = std::stoi(line.substr(6));
      if (line.starts_with("desc: Trigger: ")) trigger = line.substr(15);
      if (line.starts_with("totals: ")) total = std::stoll(line.substr(8));
    }
    EXPECT_EQ(number, i) << file;
    made[trigger] = total;
  }
  return made;
}

std::map<std::string, std::int64_t> profiled(const Words& options, const std::string& what) {
  const TemporaryFile file("callgrind.out");
  const Finished finished =
      tally(with(with({"profile", "-q", "--format", "callgrind", "-o", file.path()}, options), {"--", REQUESTS, what}));
  EXPECT_EQ(finished.code(), 0) << finished.err;
  const auto parts = parts_of(file.path(), 4);
  for (int i = 1; i < 4; ++i) std::remove((file.path() + "." + std::to_string(i)).c_str());
  return parts;
}

using Parts = std::map<std::string, std::int64_t>;
const Parts divided{{"Client Request: first", 2002},
                    {"Client Request: second", 2004},
                    {"Client Request", 62},
                    {"Program termination", 22}};

TEST(ProfileParts, are_files_numbered_as_callgrinds) {
  EXPECT_EQ(profiled({"--parts"}, "instrumentation"), divided);
  EXPECT_EQ(profiled({"--instr-atstart", "no"}, "instrumentation"), divided);
  EXPECT_EQ(profiled({"--parts"}, "collection"), divided);
  EXPECT_EQ(profiled({"--collect-atstart", "no"}, "collection"), divided);
}

TEST(ProfileParts, are_those_of_callgrind) {
  if (std::system("valgrind --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "valgrind is not installed";
  for (const bool collects : {false, true}) {
    const TemporaryFile file("callgrind.out");
    const std::string command = std::string("valgrind -q --tool=callgrind ") +
                                (collects ? "--collect-atstart=no" : "--instr-atstart=no") +
                                " --callgrind-out-file=" + file.path() + " " REQUESTS " " +
                                (collects ? "collection" : "instrumentation") + " 2>/dev/null";
    ASSERT_EQ(std::system(command.c_str()), 0);
    // Callgrind counts the block that ends with a request after the request, and a sequence as one instruction. So a
    // section lacks the move before its second request; with collection, it has the two moves before its first request
    // and that request.
    const std::int64_t each = collects ? 2 : -1;
    Parts expected = divided;
    const std::map<std::string, std::int64_t> entries{{"Client Request: second", 2}};
    for (auto& [trigger, count] : expected) count += each * (entries.contains(trigger) ? 2 : 1);
    EXPECT_EQ(parts_of(file.path(), 4), expected) << command;
    for (int i = 1; i < 4; ++i) std::remove((file.path() + "." + std::to_string(i)).c_str());
  }
}

TEST(RequestsOfHeaders, are_those_that_programs_of_others_make) {
  if (std::string(HEADERS).empty()) GTEST_SKIP() << "callgrind.h (package valgrind) was not installed at the build";
  const TemporaryFile file("result.json");
  const Finished finished = tally({"stat", "--backend", "engine", "-q", "-e", "instructions", "--format", "json", "-o",
                                   file.path(), "--", HEADERS});
  EXPECT_EQ(finished.code(), 0) << finished.err;
  const Regions regions = regions_of(json::parse(file.content().value_or(""), nullptr, false));
  ASSERT_EQ(regions.size(), 3u);
  // 900 turns of two instructions more.
  EXPECT_EQ(regions.at("bench::longer").second - regions.at("bench::shorter").second, 1800);
  EXPECT_EQ(regions.at("collected"), regions.at("bench::shorter"));
}

TEST(RequestsOfHeaders, are_answered_as_valgrind_does_if_the_user_asks) {
  if (std::string(HEADERS).empty()) GTEST_SKIP() << "callgrind.h (package valgrind) was not installed at the build";
  const Words stat{"stat", "--backend", "engine", "-q", "-e", "instructions"}, program{"--", HEADERS, "answers"};
  EXPECT_EQ(tally(with(stat, program)).out, "0 0 0 0.0\n");
  const Finished finished = tally(with(with(stat, {"--as-valgrind"}), program));
  EXPECT_EQ(finished.out, "1 1011 22 0.5\n");
  EXPECT_NE(finished.err.find("** -3 text|  123|7   |ff\n"), std::string::npos) << finished.err;
}

}  // namespace
}  // namespace tally::test
