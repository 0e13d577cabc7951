// Every form of a result of `tally memory`, as somebody last looked at it.
#include "tally/report/memory.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tally/report/golden_testing.hpp"
#include "tally/report/memory_testing.hpp"

namespace tally::report {
namespace {

TEST(GoldenMemory, table) { expect_golden(TALLY_GOLDEN, "memory.txt", memory_table(sample_memory())); }

TEST(GoldenMemory, csv) { expect_golden(TALLY_GOLDEN, "memory.csv", memory_csv(sample_memory())); }

TEST(GoldenMemory, json) {
  const std::string text = memory_json(sample_memory());
  expect_golden(TALLY_GOLDEN, "memory.json", text);
  EXPECT_TRUE(nlohmann::json::parse(text)["points"][2]["ns"].is_null()) << "absent is never 0";
}

TEST(MemoryTable, of_a_contended_report_is_the_verdict) {
  result::Memory memory = sample_memory();
  memory.levels.clear();
  memory.tlbs.clear();
  memory.controls.clear();
  memory.findings.clear();
  memory.verdict = {true, 3, 2, 20, 7, "2 of 3 points flagged: no capacities reported"};
  const std::string text = memory_table(memory);
  EXPECT_TRUE(text.starts_with("\n contended: 2 of 3 points flagged: no capacities reported; 20.0 % of the batches"));
  EXPECT_EQ(text.find("4.00"), std::string::npos) << "no number that a busy machine made";
}

TEST(MemoryTable, of_a_level_that_was_not_seen_says_so_without_a_grade) {
  result::Memory memory = sample_memory();
  memory.levels[1] = {
      .name = "LLC", .reported_bytes = 32 << 20, .unseen = true, .because = "not seen: no step near it"};
  const std::string text = memory_table(memory);
  EXPECT_NE(text.find(" LLC     not seen "), std::string::npos) << text;
  EXPECT_NE(text.find("LLC: not seen: no step near it"), std::string::npos) << text;
  const std::size_t at = text.find(" LLC ");
  EXPECT_TRUE(text.substr(at, text.find('\n', at) - at).ends_with(" -")) << text;
  EXPECT_EQ(nlohmann::json::parse(memory_json(memory))["levels"][1]["seen"], false);
}

TEST(MemoryTable, reasons_are_no_wider_than_the_table) {
  result::Memory memory = sample_memory();
  memory.tlbs[0].because =
      "72 pages hit at each of 6 distances, in two mappings and more; thp pages (thp) are translated by 4.000 KiB";
  const std::string text = memory_table(memory);
  EXPECT_NE(text.find("(thp) are\n   translated by"), std::string::npos) << text;
}

TEST(LensRows, hold_a_write_and_the_read_behind_it) {
  result::Memory memory;
  for (const char* quantity : {"write", "read"}) {
    auto point = sample_point(4096, quantity == std::string("write") ? 6.5 : 71.25);
    point.quantity = quantity;
    point.regions = 100;
    memory.points.push_back(point);
  }
  memory.points.push_back(sample_point(4096, 1));  // a load is neither
  EXPECT_EQ(memory_lens_csv(memory),
            "region_size,block_size,count,total,cycle_write_start,cycle_read_start,cycle_read_end\r\n"
            "4096,64,100,497600,0,41600,497600\r\n");
}

}  // namespace
}  // namespace tally::report
