// The text of pages. tests/cli/report_test.cpp checks in a browser how they are drawn.
#include "tally/output/kinds/page_format.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tally/core/base/holds_testing.hpp"
#include "tally/output/html/charts_testing.hpp"
#include "tally/output/html/profile_page.hpp"
#include "tally/output/html/sections.hpp"
#include "tally/output/kinds/profile_forms.hpp"
#include "tally/output/kit/element.hpp"
#include "tally/output/result/golden_testing.hpp"
#include "tally/output/result/sample_stat_testing.hpp"

namespace tally::output {
namespace {

using Json = nlohmann::json;

TEST(GoldenHtml, of_counts) { expect_golden(TALLY_GOLDEN, "metrics.html", section_of(sample_with_metrics())); }

TEST(GoldenHtml, of_a_series) { expect_golden(TALLY_GOLDEN, "series.html", section_of(sample_series(6))); }

TEST(GoldenHtml, of_processes) { expect_golden(TALLY_GOLDEN, "processes.html", section_of(sample_processes())); }

TEST(Html, loads_nothing_from_elsewhere) {
  const std::string page = html_page({{"", sample()}});
  for (const char* way : {"<link", "src=", "@import", "url(", "fetch(\"", "XMLHttpRequest"}) {
    EXPECT_FALSE(holds(page, way)) << way;
  }
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

}  // namespace
}  // namespace tally::output
