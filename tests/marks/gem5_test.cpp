// Marks for gem5: illegal instructions natively, regions of `tally stat` and parts of `tally profile` with
// `--marks gem5`.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdio>
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

struct Counted {
  Finished finished;
  json result;
  Regions regions = {};
};

Counted count(const Words& options, const std::string& what) {
  const TemporaryFile file("result.json");
  Counted made{tally(with(with({"stat", "--backend", "engine", "-q", "-e", "instructions", "-o", file.path()}, options),
                          {"--format", "json", "--", GEM5, what})),
               {}};
  made.result = json::parse(file.content().value_or(""), nullptr, false);
  if (!made.result.contains("regions")) return made;
  for (const json& process : made.result["regions"])
    for (const json& region : process["regions"])
      made.regions[region["region"]] = {region["entries"], region["events"][0]["value"]};
  return made;
}

/// However the engine cuts code into traces, discards them or creates them again.
class Gem5 : public testing::TestWithParam<Words> {
 protected:
  static Counted counted(const std::string& what) {
    Counted made = count(with({"--marks", "gem5"}, GetParam()), what);
    EXPECT_EQ(made.finished.code(), 0) << what << ": " << made.finished.err;
    EXPECT_EQ(made.result["events"][0]["trust"], "exact") << what;
    return made;
  }
};

TEST_P(Gem5, work_items_are_regions) {
  EXPECT_EQ(counted("work").regions,
            (Regions{{"work 1", {2, 802}}, {"work 2", {1, 21}}, {"work 18446744073709551615", {1, 41}}}));
}

TEST_P(Gem5, statistics_are_parts) {
  const Regions found = counted("statistics").regions;
  EXPECT_EQ(found.at("part 1"), (Region{1, 201}));
  EXPECT_EQ(found.at("part 3"), (Region{1, 61}));
}

TEST_P(Gem5, nested_items_divide_the_outer_one) {
  const Regions found = counted("nested").regions;
  EXPECT_EQ(found.at("work 2"), (Region{2, 4002}));
  EXPECT_EQ(found.at("work 1").first, 3);
  EXPECT_LT(found.at("work 1").second, 100);
}

TEST_P(Gem5, items_of_several_threads_are_one) {
  const Regions found = counted("shared").regions;
  EXPECT_GE(found.at("work 6").second, 2 * 2001 - 100);
  EXPECT_LT(found.at("work 6").second + found.at("work 5").second, 2 * 2001 + 40000);
}

TEST_P(Gem5, exit_does_not_end_the_program) { EXPECT_EQ(counted("exit").finished.out, "continues\n"); }

TEST_P(Gem5, other_operations_are_illegal) { EXPECT_EQ(counted("unknown").finished.out, "1\n"); }

TEST_P(Gem5, marks_are_executed_once_whatever_signals_arrive) {
  const Regions found = counted("signals").regions;
  EXPECT_EQ(found.at("work 8"), (Region{1, 101}));
  const auto [entries, counts] = found.at("work 9");
  EXPECT_GE(entries, 2000);
  EXPECT_GE(counts, entries * 41);
}

TEST_P(Gem5, marks_may_change) {
  const Counted made = counted("changes");
  EXPECT_EQ(made.finished.out, "1\n");
  EXPECT_EQ(made.regions, (Regions{{"work 1", {2, 201 + 801}}}));
}

TEST_P(Gem5, mark_may_be_the_last_of_a_page) { EXPECT_EQ(counted("last four").finished.out, "fault 0\n"); }

TEST_P(Gem5, mark_needs_all_its_bytes) {
  const Finished natively = Running({GEM5, "last two"}).finish();
  EXPECT_NE(natively.out, "");
  EXPECT_EQ(counted("last two").finished.out, natively.out);
}

TEST_P(Gem5, items_of_a_forked_child_are_its_own) {
  EXPECT_EQ(counted("fork").regions, (Regions{{"work 1", {1, 601}}, {"work 2", {1, 401}}}));
}

INSTANTIATE_TEST_SUITE_P(engine, Gem5,
                         testing::Values(Words{}, Words{"--block-size", "1"}, Words{"--hot-from", "1"},
                                         Words{"--cache-limit", "40"}, Words{"--clock", "counted"}));

TEST(Gem5Option, is_needed_and_leaves_stored_code_alone) {
  for (int i = 0; i < 2; ++i) {
    const Counted without = count({}, "work"), with_marks = count({"--marks", "gem5"}, "work");
    EXPECT_EQ(without.finished.code(), 128 + SIGILL) << without.finished.err;
    EXPECT_EQ(without.regions, Regions{});
    EXPECT_EQ(count({}, "unknown").finished.out, "3\n");
    EXPECT_EQ(with_marks.finished.code(), 0) << with_marks.finished.err;
    EXPECT_EQ(with_marks.regions.at("work 1"), (Region{2, 802}));
  }
}

TEST(Gem5Option, needs_the_engine) {
  const Finished refused = tally({"stat", "--backend", "none", "--marks", "gem5", "--", "true"});
  EXPECT_EQ(refused.code(), 2);
  EXPECT_NE(refused.err.find("--marks gem5 needs the engine"), std::string::npos) << refused.err;
  EXPECT_EQ(tally({"stat", "--marks", "gem6", "--", "true"}).code(), 2);
}

TEST(Gem5Option, also_keeps_marked_functions_and_return_addresses) {
  const Counted made = count({"--marks", "gem5", "--function", "section"}, "work");
  EXPECT_EQ(made.finished.code(), 0) << made.finished.err;
  EXPECT_EQ(made.regions.at("section"), (Region{4, 2 * 430 + 4 * 4}));
}

TEST(Gem5Option, divides_profiles) {
  const TemporaryFile file("callgrind.out");
  const Finished finished = tally(
      {"profile", "-q", "--parts", "--marks", "gem5", "--format", "callgrind", "-o", file.path(), "--", GEM5, "work"});
  ASSERT_EQ(finished.code(), 0) << finished.err;
  const std::int64_t expected[] = {201, 21, 601, 41};
  for (int i = 1; i <= 4; ++i) {
    const std::string name = file.path() + "." + std::to_string(i);
    std::ifstream lines(name);
    std::string line;
    std::int64_t total = -1;
    while (std::getline(lines, line))
      if (line.starts_with("totals: ")) total = std::stoll(line.substr(8));
    EXPECT_EQ(total, expected[i - 1]) << name;
    std::remove(name.c_str());
  }
}

}  // namespace
}  // namespace tally::test
