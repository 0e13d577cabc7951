// `tally memory` with a PMU: counts in addition to the timings.
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/program.hpp"
#include "tests/guest/machine.hpp"

namespace tally::hardware_test {
namespace {

nlohmann::json memory_json(const test::Words& options) {
  const test::TemporaryFile file("memory.json");
  test::Words words{"memory", "--format", "json", "-o", file.path(), "--mappings", "2"};
  words.insert(words.end(), options.begin(), options.end());
  const test::Finished finished = test::tally(words);
  auto json = nlohmann::json::parse(file.content().value_or(""), nullptr, false);
  if (json.is_discarded()) ADD_FAILURE() << "no JSON; " << finished.err;
  return json;
}

// One iteration of the pointer chase is a load and two loop instructions. Each batch also counts a few instructions
// that read the counters.
TEST(Memory, a_curves_points_have_their_instructions_for_each_load) {
  TALLY_NEEDS_PMU();
  const auto json = memory_json({"curve", "--from", "4K", "--to", "16K"});
  ASSERT_FALSE(json["points"].empty()) << json["notices"];
  EXPECT_EQ(json["counters"]["events"][0]["event"], "instructions:u");
  EXPECT_EQ(json["counters"]["events"][0]["trust"], "counted");
  for (const auto& point : json["points"]) {
    ASSERT_TRUE(point["counts"].is_object()) << point;
    const double instructions = point["counts"]["instructions"].get<double>();
    EXPECT_GE(instructions, 3) << point;
    EXPECT_LE(instructions, 3.1) << point;
    EXPECT_GT(point["counts"]["cycles_counted"].get<double>(), 0) << point;
  }
}

// The report prints counts for each level, not for each point.
TEST(Memory, a_reports_levels_have_their_instructions_for_each_load) {
  TALLY_NEEDS_GUEST();
  const auto json = memory_json({"--from", "4K", "--to", "32K"});
  ASSERT_FALSE(json["levels"].empty()) << json["notices"];
  for (const auto& level : json["levels"]) {
    if (level["ns"].is_null()) continue;
    ASSERT_TRUE(level["counts"].is_object()) << level;
    EXPECT_NEAR(level["counts"]["instructions"].get<double>(), 3.05, 0.05) << level;
  }
  const auto table = test::tally({"memory", "--from", "4K", "--to", "32K", "--mappings", "2"});
  EXPECT_NE(table.out.find("  instr  counted cyc  "), std::string::npos) << table.out;
  EXPECT_NE(table.out.find("  3.00"), std::string::npos) << table.out;
}

// TLB misses cost no time on an emulated processor.
TEST(Memory, a_translation_buffer_that_does_not_show_is_not_seen) {
  TALLY_NEEDS_GUEST();
  const auto json = memory_json({"tlb"});
  ASSERT_EQ(json["tlbs"].size(), 1u) << json;
  EXPECT_EQ(json["tlbs"][0]["seen"], false);
  EXPECT_TRUE(json["tlbs"][0]["entries"].is_null());
  EXPECT_NE(json["tlbs"][0]["because"].get<std::string>().find("not seen: 2048 lines in separate pages"),
            std::string::npos);
}

TEST(Memory, what_a_pmu_does_not_count_is_absent_with_the_reason) {
  TALLY_NEEDS_GUEST();
  const auto json = memory_json({"chase-read", "--regions", "4K,16K"});
  ASSERT_FALSE(json["points"].empty()) << json["notices"];
  for (const auto& event : json["counters"]["events"]) {
    const bool has = event["name"] == "instructions" || event["name"] == "cycles_counted";
    EXPECT_EQ(event["trust"], has ? "counted" : "absent") << event;
    EXPECT_EQ(event["reason"].is_null(), has) << event;
    for (const auto& point : json["points"]) EXPECT_EQ(point["counts"].contains(event["name"]), has) << point;
  }
}

// With this order, a loop writes a new cycle of pointers between the time stamps. Its instructions do not belong to
// loads, so the points have no counts.
TEST(Memory, laps_that_are_planted_in_between_have_no_counts) {
  TALLY_NEEDS_PMU();
  const auto json = memory_json({"curve", "--order", "fresh-per-lap", "--from", "4K", "--to", "8K"});
  ASSERT_FALSE(json["points"].empty()) << json["notices"];
  for (const auto& point : json["points"]) EXPECT_TRUE(point["counts"].is_null()) << point;
  EXPECT_TRUE(json["counters"]["events"].is_null());
  EXPECT_TRUE(json["counters"]["reason"].is_string());
}

TEST(Memory, without_permission_there_are_reasons_and_timings) {
  TALLY_NEEDS_GUEST();
  const Setting strict = paranoid(3);
  const test::TemporaryFile file("memory.json");
  const auto finished =
      test::Running(as_user({TALLY_COMMAND, "memory", "curve", "--from", "4K", "--to", "8K", "--format", "json"}))
          .finish();
  const auto json = nlohmann::json::parse(finished.out, nullptr, false);
  ASSERT_FALSE(json.is_discarded()) << finished.out << finished.err;
  EXPECT_NE(json["counters"]["reason"].get<std::string>().find("Permission denied"), std::string::npos) << json;
  EXPECT_TRUE(json["points"][0]["counts"].is_null());
  EXPECT_TRUE(json["points"][0]["ns"].is_number());
}

}  // namespace
}  // namespace tally::hardware_test
