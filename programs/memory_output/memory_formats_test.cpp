// Every format of a result of `tally memory`, compared with golden files.
#include "programs/memory_output/memory_format.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "programs/memory_output/sample_memory_testing.hpp"
#include "tally/output/kit/impossible_numbers_testing.hpp"
#include "tally/output/kit/terminal_widths_testing.hpp"
#include "tally/output/result/golden_testing.hpp"
#include "tally/output/result/stored.hpp"

namespace tally::output {
namespace {

TEST(GoldenMemory, table) { expect_golden(TALLY_GOLDEN, "memory.txt", memory_table(sample_memory())); }

TEST(GoldenMemory, csv) { expect_golden(TALLY_GOLDEN, "memory.csv", memory_csv(sample_memory())); }

TEST(GoldenMemory, json) {
  const std::string text = memory_json(sample_memory());
  expect_golden(TALLY_GOLDEN, "memory.json", text);
  EXPECT_TRUE(nlohmann::json::parse(text)["points"][2]["ns"].is_null()) << "absent is never 0";
}

TEST(MemoryTable, has_each_ratio_with_its_interval_and_verdict) {
  result::Memory memory = sample_memory();
  memory.task = "forward";
  memory.ratios = {{"raw / (write + read)", 4096, 64, 0.75, 0.7, 0.8, "served above"},
                   {"raw / (write + read)", 8192, 64, 0.9, 0.85, 0.95, "undecided", "0.9 is within the interval"},
                   {"raw / (write + read)", 16384, 64, 1.5, {}, {}, "undecided"}};
  const std::string text = memory_table(memory);
  EXPECT_NE(text.find(" raw / (write + read)     4 K   64 B  0.750  0.700  0.800  served above"), std::string::npos)
      << text;
  EXPECT_NE(text.find("  0.900  0.850  0.950  undecided     0.9 is within"), std::string::npos) << text;
  EXPECT_NE(memory_html(memory).find("served above"), std::string::npos);
  const std::string json = memory_json(memory);
  EXPECT_TRUE(nlohmann::json::parse(json)["ratios"][2]["low"].is_null());
  const auto read = result::read_memories(json, "forward.json");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->front().ratios, memory.ratios);
}

TEST(MemoryTable, of_a_contended_report_is_the_verdict) {
  result::Memory memory = sample_memory();
  memory.levels.clear();
  memory.tlbs.clear();
  memory.controls.clear();
  memory.findings.clear();
  memory.verdict = {true, 3, 2, 20, 7, "2 of 3 points flagged: no capacities reported", "laps differ", "run it again"};
  const std::string text = memory_table(memory);
  EXPECT_TRUE(text.starts_with("\n contended: 2 of 3 points flagged: no capacities reported; 20.0 % of the batches"));
  EXPECT_EQ(text.find("4.00"), std::string::npos) << "no number from a busy machine";
  EXPECT_NE(text.find("\n next: run it again\n"), std::string::npos) << text;
  EXPECT_NE(memory_html(memory).find("<p>next: run it again</p>"), std::string::npos);
  const std::string json = memory_json(memory);
  EXPECT_EQ(nlohmann::json::parse(json)["verdict"]["advice"], "run it again");
  EXPECT_EQ(nlohmann::json::parse(json)["verdict"]["cause"], "laps differ");
  const auto read = result::read_memories(json, "busy.json");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->front().verdict, memory.verdict);
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

TEST(MemoryTable, of_a_translation_buffer_that_was_not_seen_has_no_number) {
  result::Memory memory = sample_memory();
  memory.tlbs = {{.name = "DTLB", .granule_bytes = 4096, .because = "not seen: nothing is slower", .unseen = true}};
  const std::string text = memory_table(memory);
  const std::size_t at = text.find(" DTLB ");
  const std::string row = text.substr(at, text.find('\n', at) - at);
  EXPECT_TRUE(std::regex_match(row, std::regex(" DTLB +not seen +- +4 K +-"))) << text;
  const std::string json = memory_json(memory);
  EXPECT_EQ(nlohmann::json::parse(json)["tlbs"][0]["seen"], false);
  EXPECT_TRUE(nlohmann::json::parse(json)["tlbs"][0]["entries"].is_null());
  EXPECT_TRUE(nlohmann::json::parse(json)["tlbs"][0]["penalty_ns"].is_null());
  const auto read = result::read_memories(json, "tlb.json");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->front().tlbs, memory.tlbs);
}

TEST(MemoryTable, of_the_task_tlb_has_the_graded_row_below_the_points) {
  result::Memory memory = sample_memory();
  memory.task = "tlb";
  memory.levels.clear();
  const std::string text = memory_table(memory);
  const std::size_t row = text.find(" DTLB ");
  ASSERT_NE(row, std::string::npos) << text;
  EXPECT_LT(text.find(" region "), row) << text;
  EXPECT_NE(text.find("DTLB: thp pages (thp) are translated by"), std::string::npos) << text;
}

TEST(MemoryTable, reasons_are_no_wider_than_the_table) {
  result::Memory memory = sample_memory();
  memory.tlbs[0].because =
      "72 pages hit at each of 6 distances, in at least two mappings; thp pages (thp) are translated by 4.000 KiB";
  const std::string text = memory_table(memory);
  EXPECT_NE(text.find("(thp) are\n   translated by"), std::string::npos) << text;
}

TEST(MemoryCounts, are_in_columns_of_their_own_in_the_table) {
  const std::string text = memory_table(sample_counted_memory());
  EXPECT_NE(text.find(" rejected  instr  dTLB miss  flags\n"), std::string::npos) << text;
  EXPECT_NE(text.find("        1  3.500     0.0125\n"), std::string::npos) << text;
  EXPECT_NE(text.find("        1  3.500      0.000  15 of 49"), std::string::npos) << text;
  EXPECT_NE(text.find(" counters of a_pmu, for each load or line: instructions:u, dTLB-load-misses:u;"),
            std::string::npos)
      << text;
}

TEST(MemoryCounts, are_in_the_rows_of_the_levels) {
  result::Memory memory = sample_counted_memory();
  memory.task = "levels";
  const std::string text = memory_table(memory);
  EXPECT_NE(text.find(" ways x sets  instr  dTLB miss  grade\n"), std::string::npos) << text;
  EXPECT_NE(text.find("     12 x 64  3.250     0.0375  high\n"), std::string::npos) << text;
  EXPECT_NE(text.find(" counters of a_pmu, for each load or line:"), std::string::npos) << text;
  EXPECT_NE(memory_html(memory).find("<td class=\"number\">0.0375</td>"), std::string::npos);
  const std::string json = memory_json(memory);
  EXPECT_EQ(nlohmann::json::parse(json)["levels"][0]["counts"],
            (nlohmann::json{{"instructions", 3.25}, {"dtlb_misses", 0.0375}}));
  EXPECT_TRUE(nlohmann::json::parse(json)["levels"][1]["counts"].is_null()) << "absent is never 0";
  const auto read = result::read_memories(json, "counts.json");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->front().levels, memory.levels);
}

TEST(MemoryCounts, have_their_columns_in_the_csv_whether_there_are_any_or_not) {
  const std::string counted = memory_csv(sample_counted_memory());
  const std::string header = counted.substr(0, counted.find("\r\n"));
  EXPECT_TRUE(header.ends_with(",from_memory,instructions,cycles_counted,l1d_misses,l2_misses,llc_misses,dtlb_misses"));
  EXPECT_NE(counted.find(",4,0.0125,3.5,,,,,0.0125\r\n"), std::string::npos) << counted;
  EXPECT_NE(counted.find(",3.5,,,,,0\r\n"), std::string::npos) << counted;
  EXPECT_TRUE(counted.ends_with(",,,,,,\r\n")) << "absent is never 0";
  EXPECT_TRUE(memory_csv(sample_memory()).starts_with(header));
}

TEST(MemoryCounts, are_in_the_json_with_their_trust_and_are_read_back) {
  const result::Memory memory = sample_counted_memory();
  const std::string text = memory_json(memory);
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json["points"][0]["counts"], (nlohmann::json{{"instructions", 3.5}, {"dtlb_misses", 0.0125}}));
  EXPECT_TRUE(json["points"][2]["counts"].is_null());
  EXPECT_EQ(json["counters"]["events"][0]["trust"], "counted");
  EXPECT_EQ(json["counters"]["events"][1]["trust"], "absent");
  EXPECT_EQ(json["counters"]["events"][1]["reason"], memory.counters[1].reason);
  const auto read = result::read_memories(text, "counts.json");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->front().counters, memory.counters);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(read->front().points[i].counts, memory.points[i].counts);
}

TEST(MemoryCounts, are_on_the_page) {
  const std::string page = memory_html(sample_counted_memory());
  EXPECT_NE(page.find("<th class=\"number\">dTLB miss</th>"), std::string::npos);
  EXPECT_NE(page.find("<td class=\"number\">0.0125</td>"), std::string::npos);
  EXPECT_NE(page.find("counters of a_pmu"), std::string::npos);
  EXPECT_NE(page.find("Misses per load"), std::string::npos);
  EXPECT_EQ(memory_html(sample_memory()).find("Misses for each load"), std::string::npos);
}

TEST(LensRows, contain_the_passes_in_ticks) {
  result::Memory memory;
  memory.task = "chase-read";
  memory.ticks_per_ns = 2.5;
  for (const char* quantity : {"write", "read", "raw"}) {
    auto point = sample_point(4096, quantity == std::string("write") ? 6.5 : 71.25);
    point.quantity = quantity;
    point.regions = 100;
    memory.points.push_back(point);
  }
  memory.points.push_back(sample_point(4096, 1));  // a load is neither
  EXPECT_EQ(memory_lens_csv(memory),
            "region_size,block_size,count,total,cycle_write_start,cycle_read_start,cycle_read_end,task_name,"
            "ticks_per_ns\r\n"
            "4096,64,100,497600,0,104000,1244000,chase-read,2.5\r\n");
  memory.points[1].quantity = "other";
  memory.task = "chase-raw";
  EXPECT_TRUE(memory_lens_csv(memory).ends_with("ns\r\n4096,64,100,456000,0,1140000,1140000,chase-raw,2.5\r\n"));
  memory.task = "chase-write";
  memory.ticks_per_ns = std::nullopt;  // of another tool: nanoseconds, and it says so
  EXPECT_TRUE(memory_lens_csv(memory).ends_with("ns\r\n4096,64,100,41600,0,41600,41600,chase-write,1\r\n"));
}

TEST(MemoryTable, fits_common_terminals) {
  expect_fit([](std::size_t terminal) { return memory_table(sample_memory(), terminal); }, 200);
  expect_fit([](std::size_t terminal) { return memory_table(sample_counted_memory(), terminal); }, 200);
  const std::string narrow = memory_table(sample_memory(), 80);
  EXPECT_NE(narrow.find("  grade\n"), std::string::npos) << "geometry is left out before it\n" << narrow;
}

TEST(StoredMemory, has_no_other_numbers) {
  expect_no_other_number(memory_json(sample_memory()), [](const std::string& text) -> std::optional<std::string> {
    const auto read = result::read_memories(text, "file");
    return read ? std::optional(memory_json(read->front())) : std::nullopt;
  });
}

}  // namespace
}  // namespace tally::output
