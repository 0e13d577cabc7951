#include <gtest/gtest.h>

#include "tally/output/kinds/windows_format.hpp"

namespace tally::output {
namespace {

std::string chart(std::size_t terminal, std::uint32_t threads = 1) {
  result::WindowsHead head;
  for (const char* name : {"instructions", "loads", "cycles"}) head.events.emplace_back().name = {name, Mode::user};
  head.places = {0, 1, std::nullopt};
  const auto writer = make_window_chart(terminal);
  std::string text;
  writer->begin(head, text);
  const std::int64_t counts[][2] = {{1'000'000, 1}, {500'000, 400}, {0, 200}};
  for (std::uint32_t series = 1; series <= threads; ++series) {
    for (std::uint64_t i = 0; i < 3; ++i) {
      result::Window window;
      window.series = series;
      window.program = "prog";
      window.number = i + 1;
      window.tid = 4710 + series;
      window.counts = counts[i];
      writer->row(window, text);
    }
  }
  EXPECT_EQ(text, "") << "bars depend on the largest count";
  writer->end(head, text);
  return text;
}

TEST(WindowsChart, has_a_bar_for_each_count) {
  EXPECT_EQ(chart(40),
            " window  instructions:u  loads:u\n"
            "      1  ##############  #\n"
            "      2  #######         ##############\n"
            "      3                  #######\n"
            "   most  1,000,000       400\n"
            "    sum  1,500,000       601\n"
            " absent: cycles:u\n");
}

TEST(WindowsChart, leaves_out_what_does_not_fit) {
  EXPECT_EQ(chart(20).substr(0, 40), chart(40).substr(0, 40)) << "no terminal is that narrow";
  EXPECT_NE(chart(0).find(std::string(34, '#')), std::string::npos);
}

TEST(WindowsChart, has_a_part_for_each_thread) {
  const std::string text = chart(80, 2);
  EXPECT_EQ(text.find("prog 4711:\n window"), 0u) << text;
  EXPECT_NE(text.find("\nprog 4712:\n window"), std::string::npos) << text;
}

}  // namespace
}  // namespace tally::output
