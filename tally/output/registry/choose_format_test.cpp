#include <gtest/gtest.h>

#include <set>

#include "tally/core/base/text.hpp"
#include "tally/output/kinds/comparison_format.hpp"
#include "tally/output/kinds/profile_format.hpp"
#include "tally/output/kinds/stat_format.hpp"
#include "tally/output/kinds/windows_format.hpp"
#include "tally/output/registry/choose_format.hpp"
#include "tally/output/registry/formats.hpp"

namespace tally::output {
namespace {

TEST(Registry, has_each_name_and_ending_once_in_a_kind) {
  std::set<std::pair<Kind, std::string>> names, endings;
  for (const Format* format : formats()) {
    EXPECT_TRUE(names.insert({format->kind, std::string(format->name)}).second) << format->name;
    EXPECT_FALSE(format->summary.empty()) << format->name;
    if (format->read != nullptr) {
      EXPECT_NE(format->recognise, nullptr) << format->name;
    }
    EXPECT_FALSE(source_name(format->kind).empty()) << format->name;
    if (format->endings.empty()) continue;
    for (const std::string& ending : split(format->endings, ' '))
      EXPECT_TRUE(endings.insert({format->kind, ending}).second) << format->name << " " << ending;
  }
}

template <class F>
std::string chosen(std::span<const F> formats, std::string_view name, std::string_view output,
                   std::string_view usual = "table") {
  const auto format = choose_format(formats, name, output, usual);
  return format ? std::string((*format)->name) : format.error().message + "; " + format.error().hint;
}

TEST(Registry, chooses_by_name_then_by_output_then_the_default) {
  EXPECT_EQ(chosen(stat_formats(), "", ""), "table");
  EXPECT_EQ(chosen(stat_formats(), "", "a.json"), "json");
  EXPECT_EQ(chosen(stat_formats(), "", "folder.json/a"), "table") << "a folder's name is not the file's";
  EXPECT_EQ(chosen(stat_formats(), "csv", "a.json"), "csv");
  EXPECT_EQ(chosen(stat_formats(), "", "a.txt", "csv"), "csv");
  EXPECT_EQ(chosen(comparison_formats(), "", "out/a.html"), "html");
  EXPECT_EQ(chosen(window_formats(), "", "a.json"), "chrome-trace");
  EXPECT_EQ(chosen(window_formats(), "xml", "a.json"),
            "unknown format 'xml'; the formats are: table, chart, csv, jsonl, hpctool, csv.gz, chrome-trace");
}

TEST(Registry, refuses_the_endings_of_other_formats_and_unknown_ones) {
  for (const char* name : {"a.xml", "out/a.json.gz", "a.zip", "a.lens-csv", "a.collapsed", "callgrind.out.17"})
    EXPECT_EQ(chosen(stat_formats(), "", name),
              "no format of this command has the file name suffix of '" + std::string(name) +
                  "'; the suffixes are: .csv, .json, .jsonl, .md, .html, .htm; or name the format: --format "
                  "table|csv|json|markdown|html|hpctool");
  for (const char* name : {"a.txt", "a.log", "a.out", "a", ".hidden", "a.html/b", "run.2026-11-26", "tmp.aB3dEfGhIj",
                           "-", "/dev/stdout", ""})
    EXPECT_EQ(chosen(stat_formats(), "", name), "table") << name;
  EXPECT_EQ(chosen(stat_formats(), "csv", "a.html"), "csv") << "an explicit format may have any name";
  const auto refused = check_ending("a.html", formats_of(Kind::assembly), false);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().hint, "the suffixes are: .csv, .json");
}

TEST(Registry, names_what_replaces_a_former_format) {
  const auto refused = choose_format(window_formats(), "binary", "", "table");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().hint, "use --format csv.gz");
  EXPECT_NE(choose_format(profile_formats(), "binary", "", "table").error().hint.find("the formats are"),
            std::string::npos);
}

TEST(Registry, prefers_the_longest_ending_and_accepts_prefixes) {
  EXPECT_EQ(chosen(profile_formats(), "", "a.json"), "json");
  EXPECT_EQ(chosen(profile_formats(), "", "a.speedscope.json"), "speedscope");
  EXPECT_EQ(chosen(profile_formats(), "", "a.pb.gz"), "pprof");
  EXPECT_EQ(chosen(profile_formats(), "", "a.collapsed"), "folded");
  EXPECT_EQ(chosen(profile_formats(), "", "/tmp/callgrind.out.17"), "callgrind");
  EXPECT_EQ(chosen(profile_formats(), "", "my.callgrind.out.17"), "table");
}

TEST(Registry, describes_its_formats) {
  EXPECT_EQ(format_help(formats_of(Kind::stat), "table"),
            "table (default), csv, json, markdown, html, hpctool; the suffix of the -o file selects one: .csv, .json, "
            ".jsonl, .md, .html, .htm");
  EXPECT_EQ(
      format_help(formats_of(Kind::windows), "table", "csv"),
      "table (default without -o), chart, csv (default with -o), jsonl, hpctool, csv.gz, chrome-trace; the suffix of "
      "the -o file selects one: .csv, .jsonl, .csv.gz, .json");
  EXPECT_EQ(format_lines(formats_of(Kind::assembly)),
            "Formats:\n  table         for people\n  csv    .csv   one row per event and chain\n"
            "  json   .json  one JSON object\n");
  const Kind kinds[] = {Kind::verify, Kind::memory};
  EXPECT_EQ(reader_lines(formats(), kinds), "Files that it reads:\n  tally verify  json\n  tally memory  json\n");
}

TEST(Registry, recognises_files_in_the_order_of_the_kinds) {
  const std::string header = "ins,l_cycle,ref_cycle,event1,event2,event3,event4\r\n";
  const StoredFile rows{"a.csv", header + "9,2,3,4,5,6,7\r\n9,2,3,4,5,6,7\r\n1,2,3,4,5,6,7\r\n", ""};
  const StoredFile windows{"a.csv", rows.text, R"({"schema":"tally-windows/1"})"};
  const Kind windows_first[] = {Kind::windows, Kind::stat}, stat_first[] = {Kind::stat, Kind::windows};
  ASSERT_NE(recognised_format(formats(), windows_first, rows), nullptr);
  EXPECT_EQ(recognised_format(formats(), windows_first, rows)->kind, Kind::windows);
  EXPECT_EQ(recognised_format(formats(), stat_first, rows)->kind, Kind::stat);
  EXPECT_EQ(recognised_format(formats(), stat_first, windows)->kind, Kind::windows) << "tally describes them so";
  EXPECT_EQ(recognised_format(formats(), stat_first, {"a", "text", ""}), nullptr);
}

TEST(Registry, names_the_object_if_only_rows_were_stored) {
  const StoredFile rows{"a.csv", "run,interval_ns,pid\n", ""};
  const Kind kinds[] = {Kind::stat};
  const Format* const format = recognised_format(formats(), kinds, rows);
  ASSERT_NE(format, nullptr);
  const auto read = read_results(*format, rows);
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().hint.find("a.csv.meta.json"), std::string::npos);
}

}  // namespace
}  // namespace tally::output
