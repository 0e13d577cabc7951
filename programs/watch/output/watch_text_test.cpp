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

}  // namespace
}  // namespace tally::output
