// The text of pages of windows. tests/cli/report_windows_test.cpp checks in a browser how they are drawn.
#include <gtest/gtest.h>

#include "tally/core/base/holds_testing.hpp"
#include "tally/output/analysis/phases.hpp"
#include "tally/output/html/sections.hpp"
#include "tally/output/html/windows_page_data.hpp"
#include "tally/output/kinds/page_format.hpp"
#include "tally/output/result/sample_stat_testing.hpp"

namespace tally::output {
namespace {

// Two alternating loops of ten windows each, in two threads; the second thread's last window is cut.
result::Windows sample_windows() {
  result::WindowsHead head;
  head.command = {"./prog", "<x>"};
  head.triggers = {{{"instructions", Mode::user}, 1000}};
  for (const char* event : {"instructions:u", "cycles:u", "loads:u"}) {
    result::EventCount one;
    one.event = event;
    one.name = split_event_name(event);
    one.count.trust = Trust::exact;
    head.events.push_back(one);
  }
  head.events[1].count = absent("no model");
  head.places = {0, std::nullopt, 1};
  result::WindowsCollector collector(head);
  for (std::uint32_t series = 1; series <= 2; ++series) {
    for (std::uint64_t number = 1; number <= 40; ++number) {
      const bool cut = series == 2 && number == 40;
      const std::int64_t counts[] = {cut ? 20 : 1000, cut ? 7 : (number - 1) / 10 % 2 == 0 ? 250 : 400};
      result::Window window{series, "prog", number, Nanoseconds(number * 1000), counts[0], 5, 5 + series};
      if (!cut) window.trigger = 0;
      window.address = 0x401000 + number;
      window.counts = counts;
      collector.add(window);
    }
  }
  return collector.take();
}

TEST(HtmlWindows, phases_are_found_with_their_representatives) {
  const Phases found = find_phases(sample_windows());
  ASSERT_EQ(found.phases.size(), 2u);
  EXPECT_EQ(found.events, std::vector<std::string>{"loads:u"}) << "constant counts are not compared";
  EXPECT_EQ(found.of_row[0][9], 0);
  EXPECT_EQ(found.of_row[0][10], 1);
  EXPECT_EQ(found.of_row[0][20], 0);
  EXPECT_EQ(found.phases[1].row, 10u) << "the first of equals";
  EXPECT_EQ(found.phases[0].windows, 40u);
  EXPECT_EQ(found.of_row[1][39], -1) << "too short for a phase";
  EXPECT_EQ(found.too_short, 1u);
}

/// Counts distinguish two of these loops, the executed code all four.
TEST(HtmlWindows, phases_are_found_by_code) {
  result::Windows windows = sample_windows();
  windows.series.pop_back();
  std::string text = "# prog: process 6, thread 6\n";
  for (int number = 1; number <= 40; ++number) {
    const int loop = (number - 1) / 10;
    text += "T:1:20 :" + std::to_string(2 + 2 * loop) + ":" + std::to_string(600 + number % 3) + " :" +
            std::to_string(3 + 2 * loop) + ":" + std::to_string(380 - number % 3) + " \n";
  }
  ASSERT_TRUE(add_vectors(windows.series[0], text, "prog.bb"));
  const Phases found = find_phases(windows);
  EXPECT_TRUE(found.by_code);
  ASSERT_EQ(found.phases.size(), 4u);
  for (int number = 1; number <= 40; ++number) EXPECT_EQ(found.of_row[0][number - 1], (number - 1) / 10) << number;
  EXPECT_TRUE(holds(html_page({{"w.csv", windows}}), "A phase groups windows that ran the same code"));
  const auto short_of_one = add_vectors(windows.series[0], text.substr(0, text.rfind('T')), "prog.bb");
  ASSERT_FALSE(short_of_one);
  EXPECT_EQ(short_of_one.error().message, "'prog.bb' has 39 vectors, but thread 6 of prog has 40 windows");
  const auto other = add_vectors(windows.series[0], "T:1:20\nF:2\n", "prog.bb");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().message, "'prog.bb' holds no basic-block vectors: line 2");
}

TEST(HtmlWindows, the_page_describes_the_file) {
  const std::string page = html_page({{"w.csv", sample_windows()}});
  EXPECT_TRUE(holds(page, "80 windows, each ended by 1,000 instructions:u · 2 threads"));
  EXPECT_TRUE(holds(page, "<td>cycles:u</td><td class=\"number\">-</td>")) << "absent is never 0";
  EXPECT_TRUE(holds(page, "no model"));
  EXPECT_TRUE(holds(page, "<td>loads:u</td><td class=\"number\">25,607</td><td class=\"number\">250</td>"))
      << "sum, minimum";
  EXPECT_TRUE(holds(page, "window 11</button> of prog (6)"));
  EXPECT_TRUE(holds(page, "it does not compare basic blocks"));
  EXPECT_FALSE(holds(page, "Windows of ./prog <x>"));
  EXPECT_FALSE(holds(html_page({{"", sample()}}), "windowsData")) << "other pages do not contain it";
}

TEST(HtmlWindows, reports_partial_and_lost_windows) {
  result::Windows windows = sample_windows();
  EXPECT_FALSE(holds(section_of(windows), "verdict bad"));
  windows.series[0].lost[3] = 2;
  windows.series[1].partial[39] = 1;
  const std::string html = section_of(windows);
  EXPECT_TRUE(holds(html, "2 windows were lost"));
  EXPECT_TRUE(holds(html, "1 window is partial"));
  EXPECT_FALSE(holds(html, "incomplete"));
  windows.incomplete = true;
  EXPECT_TRUE(holds(section_of(windows), "The file is incomplete."));
  EXPECT_TRUE(holds(section_of(result::Windows{}), "The file has no windows."));
}

TEST(HtmlWindows, windows_beyond_the_limit_are_combined) {
  const FittingWindows fits = fitting(sample_windows(), {.rows = 30, .series = 500});
  EXPECT_EQ(fits.together, 3u);
  const result::WindowSeries& series = fits.windows.series[1];
  ASSERT_EQ(series.rows(), 14u);
  EXPECT_EQ(series.counts[0][0], 3000);
  EXPECT_EQ(series.counts[1][3], 250 + 400 + 400);
  EXPECT_EQ(series.numbers.back(), 40);
  EXPECT_EQ(series.triggers.back(), -1);
  EXPECT_EQ(series.lengths.back(), 20);
  ASSERT_EQ(fits.notices.size(), 1u);
  EXPECT_EQ(fitting(sample_windows(), {.rows = 100, .series = 1}).windows.series.size(), 1u);
}

TEST(HtmlWindows, metrics_need_their_counts) {
  const auto metrics = metrics_of(sample_windows());
  ASSERT_EQ(metrics.size(), 1u);
  EXPECT_EQ(metrics[0].name, "loads-per-instruction");
  EXPECT_EQ(metrics[0].events, (std::vector<std::size_t>{1, 0})) << "indices of counts, not of events";
}

}  // namespace
}  // namespace tally::output
