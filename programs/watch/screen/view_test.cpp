#include <gtest/gtest.h>

#include "programs/watch/screen/view.hpp"
#include "tally/core/base/text.hpp"

namespace tally::screen {
namespace {

using result::WatchCell;
using result::WatchKind;

result::WatchRow row(WatchKind kind, std::string name, std::vector<std::optional<double>> values) {
  result::WatchRow row{kind, std::move(name), {}, {}, {}, {}};
  for (const auto& value : values) row.cells.push_back({value, 0});
  return row;
}

// Two cores, the system, two processes; IPC has no source.
result::WatchTable sample() {
  result::WatchTable table;
  table.interval = std::chrono::seconds(1);
  table.columns = {{"UTIL", "", "share of time", "/proc/stat", result::WatchStyle::fixed, 2},
                   {"IPC", "", "instructions a cycle", "", result::WatchStyle::fixed, 2},
                   {"FAULTS", "1/s", "page faults", "/proc/vmstat", result::WatchStyle::count, 0}};
  table.reasons = {{"no-pmu", "there is no PMU", "get one"}};
  table.rows = {row(WatchKind::core, "0", {0.25, {}, 7}), row(WatchKind::core, "1", {0.75, {}, 12345}),
                row(WatchKind::system, "", {0.5, {}, 12352}), row(WatchKind::process, "sleeper", {0.0, {}, 0}),
                row(WatchKind::process, "worker", {1.0, {}, 3})};
  table.rows[3].process = 10;
  table.rows[4].process = 11;
  table.own_cost.value = 0.25;
  return table;
}

std::string text_of(const std::vector<Line>& lines) {
  std::string text;
  for (const Line& line : lines) text += line.text + "\n";
  return text;
}

std::string shown(Chosen& chosen, std::size_t width = 100, std::size_t height = 24) {
  return text_of(lines_of(sample(), {}, chosen, width, height));
}

Wish press(char letter, Chosen& chosen) { return take({Key::Name::text, letter}, sample(), chosen); }

TEST(View, fits_every_terminal) {
  for (const char page : {'m', 'p', 'g', '?', 'w', 'c', 'h'}) {
    for (const auto& [width, height] :
         {std::pair<std::size_t, std::size_t>{40, 10}, {80, 24}, {250, 80}, {1, 1}, {2, 2}, {0, 0}}) {
      Chosen chosen;
      press(page, chosen);
      const auto lines = lines_of(sample(), {}, chosen, width, height);
      ASSERT_EQ(lines.size(), height) << page;
      for (const Line& line : lines) EXPECT_LE(display_width(line.text), width) << page << line.text;
    }
  }
}

TEST(View, sums_stay_below_what_they_sum) {
  Chosen chosen;
  press('s', chosen);  // FAULTS: IPC has no value
  EXPECT_EQ(chosen.sort, 2u);
  const std::string text = shown(chosen);
  EXPECT_LT(text.find("\n    1"), text.find("\n    0")) << text;
  EXPECT_LT(text.find("\n    0"), text.find("SYS")) << text;
  EXPECT_EQ(text.find("IPC"), std::string::npos) << "a column without a value takes no room";
}

TEST(View, leaves_out_whole_columns_of_a_narrow_terminal) {
  Chosen chosen;
  const std::string text = shown(chosen, 18);
  EXPECT_TRUE(text.find("0.50") != std::string::npos) << text;
  EXPECT_TRUE(text.find("12 K") == std::string::npos && text.find(" 12\n") == std::string::npos) << text;
  EXPECT_TRUE(text.find("FAULTS") != std::string::npos) << text;  // in the line of what is left out
}

TEST(View, names_the_column_by_which_the_page_is_sorted) {
  result::WatchTable table = sample();
  table.rows.push_back(row(WatchKind::group, "/system", {0.5, {}, {}}));
  Chosen chosen;
  take({Key::Name::text, 'p'}, table, chosen);
  take({Key::Name::text, 's'}, table, chosen);
  EXPECT_NE(text_of(lines_of(table, {}, chosen, 100, 24)).find("  by FAULTS"), std::string::npos);
  take({Key::Name::text, 'g'}, table, chosen);
  EXPECT_EQ(text_of(lines_of(table, {}, chosen, 100, 24)).find("  by FAULTS"), std::string::npos);
}

TEST(View, lists_what_is_left_out_above_the_rows) {
  result::WatchTable table = sample();
  for (int i = 0; i < 20; ++i) table.rows.push_back(row(WatchKind::process, "worker", {1.0, {}, 3}));
  Chosen chosen;
  take({Key::Name::text, 'p'}, table, chosen);
  const std::string text = text_of(lines_of(table, {}, chosen, 20, 12));
  EXPECT_LT(text.find(" left out: FAULTS"), text.find("UTIL")) << text;
  EXPECT_LT(text.find("shows them"), text.find("UTIL")) << text;
}

TEST(View, filters_by_what_is_typed) {
  Chosen chosen;
  press('p', chosen);
  EXPECT_NE(shown(chosen).find("sleeper"), std::string::npos);
  press('/', chosen);
  for (const char letter : {'w', 'q'}) EXPECT_EQ(press(letter, chosen), Wish::redraw) << "a letter, no command";
  take({Key::Name::erase, 0}, sample(), chosen);
  take({Key::Name::enter, 0}, sample(), chosen);
  EXPECT_EQ(chosen.filter, "w");
  EXPECT_EQ(shown(chosen).find("sleeper"), std::string::npos);
  EXPECT_NE(shown(chosen).find("worker"), std::string::npos);
  EXPECT_EQ(press('q', chosen), Wish::quit);
}

TEST(View, hides_columns_and_says_why_some_are_missing) {
  Chosen chosen;
  press('c', chosen);
  for (int i = 0; i < 2; ++i) take({Key::Name::down, 0}, sample(), chosen);
  press(' ', chosen);
  press('c', chosen);
  EXPECT_EQ(shown(chosen).find("FAULTS"), std::string::npos);
  EXPECT_NE(shown(chosen).find("UTIL"), std::string::npos);
  press('w', chosen);
  EXPECT_NE(shown(chosen).find("IPC:\n     there is no PMU"), std::string::npos) << shown(chosen);
  EXPECT_EQ(press(' ', chosen), Wish::pause);
}

TEST(View, scrolls_to_the_end_and_no_further) {
  Chosen chosen;
  press('?', chosen);
  for (int i = 0; i < 50; ++i) take({Key::Name::page_down, 0}, sample(), chosen);
  EXPECT_NE(shown(chosen, 80, 4).find("FAULTS"), std::string::npos);
  EXPECT_LE(chosen.first_line, 3u);
  take({Key::Name::home, 0}, sample(), chosen);
  EXPECT_EQ(chosen.first_line, 0u);
}

TEST(View, cuts_between_characters) {
  EXPECT_EQ(clipped("°C and more", 2), "°C");
  EXPECT_EQ(clipped("short", 80), "short");
}

}  // namespace
}  // namespace tally::screen
