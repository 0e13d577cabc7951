#include "programs/watch/output/watch_format.hpp"
#include "tally/output/kit/terminal_widths_testing.hpp"

namespace tally::output {
namespace {

TEST(Widths, watch) {
  result::WatchTable table;
  for (int i = 0; i < 12; ++i) table.columns.push_back({"COLUMN" + std::to_string(i), "", "", ""});
  table.reasons = {{"no-pmu", "there is none", ""}};
  for (int row = 0; row < 3; ++row) {
    result::WatchRow row_of_table;
    row_of_table.kind = row < 2 ? result::WatchKind::core : result::WatchKind::process;
    row_of_table.name = row < 2 ? std::to_string(row) : "a-program-of-a-long-name";
    if (row < 2) row_of_table.socket = 0;
    if (row == 2) row_of_table.process = 4711;
    if (row == 2) row_of_table.command = "a-program-of-a-long-name --with=many";
    for (int i = 0; i < 12; ++i) {
      result::WatchCell cell;
      cell.value = 1000 * row + i + 0.25;
      row_of_table.cells.push_back(cell);
    }
    table.rows.push_back(row_of_table);
  }
  expect_fit([&](std::size_t terminal) { return watch_text(table, {}, terminal); }, 200);
  EXPECT_NE(watch_text(table, {}, 60).find("\n 4711 a-prog…a-long-name  2000.25"), std::string::npos)
      << watch_text(table, {}, 60);
  EXPECT_NE(watch_text(table, {}, 200).find("  a-program-of-a-long-name --with"), std::string::npos)
      << watch_text(table, {}, 200);
}

TEST(Widths, watch_of_processes) {
  result::WatchTable table;
  for (const char* name : {"UTIL", "USER", "KERNEL", "FAULTS", "MAJFLT", "SWITCH", "WAIT", "MEM", "THREADS"})
    table.columns.push_back({name, "", "", "", result::WatchStyle::count, 0});
  result::WatchRow row;
  row.kind = result::WatchKind::process;
  row.name = "postgres";
  row.process = 4711;
  row.command = "postgres: checkpointer of the main cluster";
  for (std::size_t i = 0; i < table.columns.size(); ++i) row.cells.push_back({123456.0 + static_cast<double>(i), {}});
  table.rows = {row};
  const std::string usual = watch_text(table, {}, 80), narrow = watch_text(table, {}, 50);
  for (const char* word : {"UTIL", "MEM", "COMMAND", "postgres:"})
    EXPECT_LT(usual.find(word), usual.find("left out")) << word << "\n" << usual;
  EXPECT_GT(usual.find("THREADS"), usual.find("left out")) << usual;
  EXPECT_LT(narrow.find("MEM"), narrow.find("left out")) << narrow;
  EXPECT_GT(narrow.find("MAJFLT"), narrow.find("left out")) << narrow;
}

TEST(Table, says_that_processes_are_hidden) {
  result::WatchTable table;
  EXPECT_EQ(watch_page(table, {.columns = {}, .filter = "nginx"}).find("hidepid"), std::string::npos);
  table.hides_processes = true;
  EXPECT_NE(watch_page(table, {.columns = {}, .filter = "nginx"}).find("hidepid"), std::string::npos);
}

TEST(Header, has_one_line_for_all_that_is_absent) {
  const std::string text =
      watch_paragraph({{{"Num sockets", "1", ""}, {"Power", "", "no zone"}, {"PMU", "", "none"}}}, 0);
  EXPECT_NE(text.find("Num sockets: 1\nnot available here: 2 facts; `--format json`"), std::string::npos) << text;
}

}  // namespace
}  // namespace tally::output
