// The text of pages. tests/cli/report_test.cpp checks in a browser how they are drawn.
#include "tally/output/kinds/page_format.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tally/core/base/holds_testing.hpp"
#include "tally/output/html/heat_map.hpp"
#include "tally/output/html/profile_page.hpp"
#include "tally/output/html/sections.hpp"
#include "tally/output/kinds/memory_format.hpp"
#include "tally/output/kinds/profile_forms.hpp"
#include "tally/output/kit/element.hpp"
#include "tally/output/result/golden_testing.hpp"
#include "tally/output/result/sample_memory_testing.hpp"
#include "tally/output/result/sample_stat_testing.hpp"
#include "tally/output/result/stored.hpp"

namespace tally::output {
namespace {

using Json = nlohmann::json;

// The data of each chart of a page.
std::vector<Json> charts(const std::string& page) {
  const std::string begin = "<script type=\"application/json\">";
  std::vector<Json> all;
  for (std::size_t at = page.find(begin); at != std::string::npos; at = page.find(begin, at + 1)) {
    const std::size_t from = at + begin.size();
    all.push_back(Json::parse(page.substr(from, page.find("</script>", from) - from)));
  }
  return all;
}

TEST(GoldenHtml, of_memory) { expect_golden(TALLY_GOLDEN, "memory.html", section_of(sample_memory())); }

TEST(GoldenHtml, of_counts) { expect_golden(TALLY_GOLDEN, "metrics.html", section_of(sample_with_metrics())); }

TEST(GoldenHtml, of_a_series) { expect_golden(TALLY_GOLDEN, "series.html", section_of(sample_series(6))); }

TEST(GoldenHtml, of_processes) { expect_golden(TALLY_GOLDEN, "processes.html", section_of(sample_processes())); }

TEST(Html, loads_nothing_from_elsewhere) {
  const std::string page = memory_html(sample_memory());
  for (const char* way : {"<link", "src=", "@import", "url(", "fetch(\"", "XMLHttpRequest"}) {
    EXPECT_FALSE(holds(page, way)) << way;
  }
}

TEST(Html, names_from_files_and_programs_are_never_code) {
  result::Memory memory = sample_memory();
  memory.environment.cpu = "</script><b>\"&";
  memory.points[1].flags = {"</script><script>alert(1)</script>"};
  const std::string page = html_page({{"<i>name", memory}, {"other", sample_memory()}});
  EXPECT_FALSE(holds(page, "<b>"));
  EXPECT_FALSE(holds(page, "<i>"));
  EXPECT_FALSE(holds(page, "<script>alert"));
  EXPECT_TRUE(holds(page, "&lt;/script&gt;&lt;b&gt;&quot;&amp;"));
  ASSERT_EQ(charts(page).size(), 3u) << "the comparison and both curves";
  EXPECT_EQ(charts(page)[1]["series"][0]["points"][1][5], "</script><script>alert(1)</script>");
}

TEST(Html, a_curve_has_its_points_plateaus_and_marks) {
  result::Memory memory = sample_memory();
  memory.levels[0].half_bytes = 51000;
  memory.levels[0].knee_bytes = 48000;
  const Json chart = charts(section_of(memory)).at(0);
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

result::ProgramRegions sample_regions() {
  const auto event = [](const std::string& name, std::int64_t value) {
    RegionEvent one;
    one.event = split_event_name(name);
    one.total = exact(value, Source::none);
    return one;
  };
  RegionResult region{"<inner>", {}, {}};
  region.all.entries = 4;
  region.all.dropped = 1;
  region.all.events = {event("instructions:u", 412), event("cycles:u", 0)};
  region.all.events[0].least = 103;
  region.all.events[0].most = 103;
  region.all.events[0].histogram = {{103, 103, 3}, {200, 207, 1}};
  region.all.events[1].total = {};
  region.all.events[1].total.reason = "no PMU";
  RegionCounts half = region.all;
  half.entries = 2;
  region.threads = {{11, half}, {12, half}};
  return {77, {"./prog", "a b"}, "", {region}};
}

TEST(Html, regions_have_their_counts_threads_and_entries) {
  const std::string page = html_page({{"regions.json", sample_regions()}});
  EXPECT_TRUE(holds(page, "<h1>Regions of ./prog &#39;a b&#39; (process 77)</h1>") ||
              holds(page, "<h1>Regions of ./prog 'a b' (process 77)</h1>"))
      << page.substr(page.find("<h1>"), 100);
  EXPECT_TRUE(holds(page, "<h3>&lt;inner&gt;</h3>\n<p class=\"soft\">4 entries, 1 dropped, 2 threads</p>"));
  EXPECT_TRUE(holds(page, "<td>instructions:u</td><td class=\"number\">412</td><td class=\"number\">103.00</td>"));
  EXPECT_TRUE(holds(page, "<td>cycles:u</td><td class=\"number\">-</td>")) << "absent is never 0";
  EXPECT_TRUE(holds(page, "absent: no PMU"));
  EXPECT_TRUE(holds(page, "<tr><td>12</td><td class=\"number\">2</td>")) << "each thread";
  ASSERT_EQ(charts(page).size(), 1u);
  const Json series = charts(page)[0]["series"][0];
  EXPECT_EQ(series["name"], "<inner>");
  ASSERT_EQ(series["points"].size(), 4u) << "both buckets, with zeros between and after them";
  EXPECT_EQ(series["points"][1][0], 104.0);
  EXPECT_EQ(series["points"][1][1], 0.0);
  result::ProgramRegions alike = sample_regions();
  alike.regions[0].all.events[0].histogram.resize(1);
  EXPECT_TRUE(charts(section_of(alike)).empty()) << "one bucket is no picture";
}

TEST(Html, regions_of_a_program_are_on_the_page_of_its_counts) {
  result::Stat stat = sample();
  stat.runs[0].regions = {sample_regions()};
  EXPECT_TRUE(holds(section_of(stat), "<h3>&lt;inner&gt;</h3>"));
  result::ProgramRegions none{1, {"./prog"}, "the kernel refuses", {}};
  EXPECT_TRUE(holds(section_of(none), "the kernel refuses"));
}

TEST(Html, a_level_without_a_latency_has_no_line_across) {
  result::Memory memory = sample_memory();
  memory.levels[1].ns = 0;
  memory.levels[2].unseen = true;
  const std::string html = section_of(memory);
  ASSERT_EQ(charts(html).at(0)["bands"].size(), 1u);
  EXPECT_EQ(charts(html)[0]["bands"][0]["to"], 50000.0);
  EXPECT_TRUE(holds(html, "<td>memory</td><td>not seen</td>"));
}

TEST(Html, rings_of_scattered_lines_are_a_series_next_to_the_curve) {
  result::Memory memory = sample_memory();
  for (const std::uint64_t bytes : {32768, 65536}) {
    memory.points.push_back(sample_point(bytes, 4.5));
    memory.points.back().task = "scattered";
  }
  const auto all = charts(section_of(memory));
  ASSERT_EQ(all.size(), 1u) << "and no chart of their own";
  ASSERT_EQ(all[0]["series"].size(), 2u);
  EXPECT_EQ(all[0]["series"][0]["points"].size(), 2u);
  EXPECT_EQ(all[0]["series"][1]["name"], "load, scattered lines");
  EXPECT_EQ(all[0]["series"][1]["points"].size(), 2u);
}

TEST(Html, curves_of_several_results_share_a_chart_at_the_beginning) {
  const auto all = charts(html_page({{"a.json", sample_memory()}, {"b.json", sample_memory()}}));
  ASSERT_EQ(all.size(), 3u);
  ASSERT_EQ(all[0]["series"].size(), 2u);
  EXPECT_EQ(all[0]["series"][0]["name"], "a.json");
  EXPECT_NE(all[0]["series"][0]["color"], all[0]["series"][1]["color"]);
}

TEST(Html, points_of_other_tasks_are_drawn_against_the_varying_parameter) {
  result::Memory memory = sample_memory();
  memory.task = "chase-write";
  memory.levels.clear();
  for (auto& point : memory.points) point.task = memory.task;
  memory.points[2] = memory.points[0];
  memory.points[2].quantity = "read";
  const Json chart = charts(section_of(memory)).at(0);
  EXPECT_EQ(chart["x"]["label"], "region");
  ASSERT_EQ(chart["series"].size(), 2u);
  EXPECT_EQ(chart["series"][1]["name"], "read");
  EXPECT_EQ(chart["series"][0]["points"].size(), 2u);
}

TEST(Html, a_histogram_falls_to_nothing_between_bins_that_do_not_touch) {
  result::Memory memory;
  memory.histograms = {{"write", "Duration", "ns", {{1, 2, 7}, {2, 4, 5}, {8, 16, 1}}},
                       {"control", "Duration", "ns", {{1, 2, 3}}}};
  const Json chart = charts(section_of(memory)).at(0);
  const Json& points = chart["series"][0]["points"];
  ASSERT_EQ(points.size(), 5u);
  EXPECT_EQ(points[2][0], 4.0);
  EXPECT_EQ(points[2][1], 0.0);
  EXPECT_EQ(chart["series"][1]["dashed"], true);
}

TEST(Html, a_map_has_its_numbers_in_its_cells) {
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
  const std::string html = section_of(memory);
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

TEST(Html, a_table_leaves_empty_columns_out) {
  HtmlTable table({"a", "#b", "c"});
  table.add({"<x>", "1", ""});
  EXPECT_TRUE(holds(table.html(), "<tr><td>&lt;x&gt;</td><td class=\"number\">1</td></tr>"));
  EXPECT_FALSE(holds(table.html(), ">c<"));
}

TEST(Html, intervals_are_from_the_first_run_that_has_some) {
  result::Stat stat = sample();
  const result::EventCount count = stat.events[0].total;
  stat.runs.push_back(stat.runs[0]);
  stat.runs[1].intervals = {{2, Nanoseconds(500'000'000), {count}}, {2, Nanoseconds(1'000'000'000), {count}}};
  stat.runs.push_back(stat.runs[1]);
  for (auto& interval : stat.runs[2].intervals) interval.run = 3;
  const auto all = charts(section_of(stat));
  const Json& chart = all.back();
  ASSERT_EQ(chart["series"].size(), 1u);
  ASSERT_EQ(chart["series"][0]["points"].size(), 2u);
  EXPECT_EQ(chart["series"][0]["points"][0][0], 0.5);
  EXPECT_TRUE(holds(section_of(stat), "Run 2."));
}

TEST(Html, source_text_and_names_on_the_page_of_a_profile_are_never_code) {
  result::Profile profile;
  profile.stat = sample();
  profile.stat.events.resize(1);
  profile.owners = {{.pid = 1, .command = "a", .tid = 1, .thread = "a"}};
  profile.objects = {{.name = "/</script>"}};
  profile.sources = {"", "dir/x.c"};
  profile.functions = {{.name = "</script>\xff", .address = 16, .entered = 1, .source = 1, .line = 2}};
  profile.rows = {{.source = 1, .line = 2, .address = 16, .executions = 1}};
  profile.counts = {5};
  ProfileStyle style;
  style.source = [](const std::string&, const std::string&) {
    return SourceFile{"first\n\tint </script>\xff;\r\n", true};
  };
  const std::string page = profile_html(profile, style);
  std::size_t ends = 0;
  for (std::size_t at = page.find("</script>"); at != std::string::npos; at = page.find("</script>", at + 1)) ++ends;
  EXPECT_EQ(ends, 2u) << "those of the data and of the program";
  const std::string begin = "id=\"profile-data\">";
  const std::size_t from = page.find(begin) + begin.size();
  const Json data = Json::parse(page.substr(from, page.find("</script>", from) - from));
  const Json& line = data["functions"][0]["lines"][0];
  EXPECT_EQ(line[0], "x.c:2");
  EXPECT_EQ(line[1], Json::parse("[5]"));
  EXPECT_TRUE(line[2].get<std::string>().starts_with("    int </script>")) << line[2];
  EXPECT_TRUE(holds(page, "Source files changed after the program was built, so counts may be at other lines: x.c"));
  style.source = {};
  EXPECT_FALSE(holds(profile_html(profile, style), "Source files changed"));
}

// A stored profile may name any file of the user who creates the page.
TEST(Html, a_page_contains_no_file_that_is_not_named_as_a_source) {
  for (const char* path : {"/home/me/.ssh/id_rsa", "/etc/shadow", "/home/me/.c", "key.pem", "dir.c/key"}) {
    ProfileStyle style;
    style.source = [](const std::string&, const std::string&) { return SourceFile{"a secret", false}; };
    SourceText text(style.source);
    EXPECT_EQ(text.line(path, "", 1), "") << path;
    EXPECT_EQ(text.line("dir/x.c", "", 1), "a secret");
  }
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
