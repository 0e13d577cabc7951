// The text of pages of `tally memory`. tests/cli/report_test.cpp checks in a browser how they are drawn.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "programs/memory_output/heat_map.hpp"
#include "programs/memory_output/memory_format.hpp"
#include "programs/memory_output/sample_memory_testing.hpp"
#include "tally/core/base/holds_testing.hpp"
#include "tally/output/html/charts_testing.hpp"
#include "tally/output/kinds/page_format.hpp"
#include "tally/output/result/golden_testing.hpp"
#include "tally/output/result/stored.hpp"

namespace tally::output {
namespace {

using Json = nlohmann::json;

// The page of two results, as `tally report` makes it.
std::string page_of_two(const std::string& name, const result::Memory& memory, const std::string& other) {
  const result::Memory second = sample_memory();
  return html_page({{name, page_section(memory)}, {other, page_section(second)}},
                   memory_comparison({{name, &memory}, {other, &second}}));
}

TEST(GoldenMemory, page) { expect_golden(TALLY_GOLDEN, "memory.html", page_section(sample_memory()).html); }

TEST(MemoryPage, loads_nothing_from_elsewhere) {
  const std::string page = memory_html(sample_memory());
  for (const char* way : {"<link", "src=", "@import", "url(", "fetch(\"", "XMLHttpRequest"}) {
    EXPECT_FALSE(holds(page, way)) << way;
  }
}

TEST(MemoryPage, names_from_files_and_programs_are_never_code) {
  result::Memory memory = sample_memory();
  memory.environment.cpu = "</script><b>\"&";
  memory.points[1].flags = {"</script><script>alert(1)</script>"};
  const std::string page = page_of_two("<i>name", memory, "other");
  EXPECT_FALSE(holds(page, "<b>"));
  EXPECT_FALSE(holds(page, "<i>"));
  EXPECT_FALSE(holds(page, "<script>alert"));
  EXPECT_TRUE(holds(page, "&lt;/script&gt;&lt;b&gt;&quot;&amp;"));
  ASSERT_EQ(charts(page).size(), 3u) << "the comparison and both curves";
  EXPECT_EQ(charts(page)[1]["series"][0]["points"][1][5], "</script><script>alert(1)</script>");
}

TEST(MemoryPage, a_curve_has_its_points_plateaus_and_marks) {
  result::Memory memory = sample_memory();
  memory.levels[0].half_bytes = 51000;
  memory.levels[0].knee_bytes = 48000;
  const Json chart = charts(page_section(memory).html).at(0);
  const Json& points = chart["series"][0]["points"];
  ASSERT_EQ(points.size(), 2u) << "a point without a time is left out";
  EXPECT_EQ(points[0], Json::parse("[4096.0, 1.25, 1.0, 1.5, false, \"\"]"));
  EXPECT_EQ(points[1][4], true) << "flagged points are hollow";
  ASSERT_EQ(chart["bands"].size(), 3u);
  EXPECT_EQ(chart["bands"][0]["to"], 50000.0);
  EXPECT_EQ(chart["bands"][1]["from"], 50000.0);
  EXPECT_EQ(chart["bands"][0]["label"], "L1d\n48 K\n1.25 ns");
  ASSERT_EQ(chart["marks"].size(), 2u);
  EXPECT_EQ(chart["marks"][0]["at"], 51000.0);
  EXPECT_TRUE(chart["marks"][1]["dotted"].get<bool>());
}

TEST(MemoryPage, a_level_without_a_latency_has_no_line_across) {
  result::Memory memory = sample_memory();
  memory.levels[1].ns = 0;
  memory.levels[2].unseen = true;
  const std::string html = page_section(memory).html;
  ASSERT_EQ(charts(html).at(0)["bands"].size(), 1u);
  EXPECT_EQ(charts(html)[0]["bands"][0]["to"], 50000.0);
  EXPECT_TRUE(holds(html, "<td>memory</td><td>not seen</td>"));
}

TEST(MemoryPage, rings_of_scattered_lines_are_a_series_next_to_the_curve) {
  result::Memory memory = sample_memory();
  for (const std::uint64_t bytes : {32768, 65536}) {
    memory.points.push_back(sample_point(bytes, 4.5));
    memory.points.back().task = "scattered";
  }
  const auto all = charts(page_section(memory).html);
  ASSERT_EQ(all.size(), 1u) << "and no chart of their own";
  ASSERT_EQ(all[0]["series"].size(), 2u);
  EXPECT_EQ(all[0]["series"][0]["points"].size(), 2u);
  EXPECT_EQ(all[0]["series"][1]["name"], "load, scattered lines");
  EXPECT_EQ(all[0]["series"][1]["points"].size(), 2u);
}

TEST(MemoryPage, curves_of_several_results_share_a_chart_at_the_beginning) {
  const auto all = charts(page_of_two("a.json", sample_memory(), "b.json"));
  ASSERT_EQ(all.size(), 3u);
  ASSERT_EQ(all[0]["series"].size(), 2u);
  EXPECT_EQ(all[0]["series"][0]["name"], "a.json");
  EXPECT_NE(all[0]["series"][0]["color"], all[0]["series"][1]["color"]);
}

TEST(MemoryPage, points_of_other_tasks_are_drawn_against_the_varying_parameter) {
  result::Memory memory = sample_memory();
  memory.task = "chase-write";
  memory.levels.clear();
  for (auto& point : memory.points) point.task = memory.task;
  memory.points[2] = memory.points[0];
  memory.points[2].quantity = "read";
  const Json chart = charts(page_section(memory).html).at(0);
  EXPECT_EQ(chart["x"]["label"], "region");
  ASSERT_EQ(chart["series"].size(), 2u);
  EXPECT_EQ(chart["series"][1]["name"], "read");
  EXPECT_EQ(chart["series"][0]["points"].size(), 2u);
}

TEST(MemoryPage, a_histogram_falls_to_nothing_between_bins_that_do_not_touch) {
  result::Memory memory;
  memory.histograms = {{"write", "Duration", "ns", {{1, 2, 7}, {2, 4, 5}, {8, 16, 1}}},
                       {"control", "Duration", "ns", {{1, 2, 3}}}};
  const Json chart = charts(page_section(memory).html).at(0);
  const Json& points = chart["series"][0]["points"];
  ASSERT_EQ(points.size(), 5u);
  EXPECT_EQ(points[2][0], 4.0);
  EXPECT_EQ(points[2][1], 0.0);
  EXPECT_EQ(chart["series"][1]["dashed"], true);
}

TEST(MemoryPage, a_map_has_its_numbers_in_its_cells) {
  HeatMap map{"reads", "", "region", "block", "ns per line", {{{4096, 64}, 80}, {{8192, 64}, 160}, {{4096, 128}, 1.5}}};
  const std::string svg = heat_map(map);
  EXPECT_TRUE(holds(svg, "<title>4 K × 128 B: 1.5 ns per line</title>"));
  EXPECT_TRUE(holds(svg, "<title>8 K × 64 B: 160 ns per line</title>"));
  map.cells.erase({8192, 64});
  EXPECT_EQ(heat_map(map), "") << "one column is no map";
}

// B10: times of blocks were shifted by eight bits instead of divided by 64, row numbers differed by a number of bytes,
// and a column was empty.
TEST(B10, each_number_has_its_own_cell_and_no_column_is_empty) {
  result::Memory memory;
  memory.task = "lap";
  result::MemoryMap map{"laps", "n", "lap", false, false, "ns", {}};
  for (const double n : {1, 2, 3}) {
    for (const double lap : {1, 2}) map.cells.push_back({n, lap, 10 * n + lap});
  }
  memory.maps = {map};
  auto point = sample_point(4096, 1.5);
  point.quantity = "raw";
  memory.points = {point};
  const std::string html = page_section(memory).html;
  for (const char* cell :
       {"1 × 1: 11 ns", "1 × 2: 12 ns", "2 × 1: 21 ns", "2 × 2: 22 ns", "3 × 1: 31 ns", "3 × 2: 32 ns"}) {
    EXPECT_TRUE(holds(html, "<title>" + std::string(cell) + "</title>")) << cell;
  }
  EXPECT_EQ(Json::parse(memory_json(memory))["maps"][0]["cells"][3], Json::parse("[2.0, 2.0, 22.0]"));
  EXPECT_FALSE(holds(html, "MB/s")) << "nothing here has a rate";
  EXPECT_FALSE(holds(memory_table(memory), "MB/s"));
  EXPECT_FALSE(holds(memory_table(memory), "read")) << "a missing pass has no column";
  EXPECT_TRUE(holds(memory_csv(memory), ",raw,"));
}

// A stored result contains everything that any format shows.
TEST(StoredMemory, is_read_as_it_was_written) {
  result::Memory memory = sample_memory();
  memory.histograms = {{"write", "Duration", "ns", {{1, 2, 7}}}};
  memory.maps = {{"reads", "region", "block", true, false, "ns", {{1, 2, 3}}}};
  memory.statistics = {{"second", 2}, {"first", 1}};
  memory.points[0].mb_per_second = 12.5;
  memory.points[0].node = 1;
  memory.points[0].laps = 3;
  memory.levels[1].unseen = true;
  const auto read = result::read_memories(memory_json(memory), "file");
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->size(), 1u);
  EXPECT_EQ(memory_json(read->front()), memory_json(memory));
  EXPECT_EQ(read->front().points, memory.points);
  EXPECT_EQ(read->front().levels, memory.levels);
  EXPECT_TRUE(result::is_memory(memory_json(memory)));
  EXPECT_FALSE(result::is_memory("{\"schema\": \"tally-stat/2\"}"));
}

TEST(StoredMemory, errors_name_the_field) {
  std::string broken = memory_json(sample_memory());
  broken.replace(broken.find("\"regions\": 1"), 12, "\"regions\": \"\"");
  const auto read = result::read_memories(broken, "file.json");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Code::bad_usage);
  EXPECT_TRUE(holds(read.error().message,
                    "'file.json' is not a result of `tally memory`: /points/0/regions has the wrong type"))
      << read.error().message;
  const auto other = result::read_memories("{\"schema\": \"tally-memory/2\"}", "file.json");
  ASSERT_FALSE(other);
  EXPECT_TRUE(holds(other.error().message, "its schema is not \"tally-memory/1\""));
}

}  // namespace
}  // namespace tally::output
