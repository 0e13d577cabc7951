#include "tally/output/data/simpoint.hpp"

#include <gtest/gtest.h>

#include "tally/output/result/golden_testing.hpp"

namespace tally::output {
namespace {

TEST(GoldenSimpoint, a_line_for_each_window) {
  const result::BlockCount blocks[] = {{1, 48'000}, {3, 2'000}, {1'000'017, 1}};
  result::Window window;
  window.program = "pro\ngram";
  window.pid = 7;
  window.tid = 8;
  window.vector = blocks;
  std::string text = simpoint_head(window);
  EXPECT_EQ(add_simpoint_line(window, text), std::string("T:1:48000 :3:2000 :1000017:1 ").size());
  window.vector = {};
  EXPECT_EQ(add_simpoint_line(window, text), 1u) << "a window in which no block ended";
  expect_golden(TALLY_GOLDEN, "windows.bb", text);
}

}  // namespace
}  // namespace tally::output
