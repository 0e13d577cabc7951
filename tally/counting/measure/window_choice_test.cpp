#include "tally/counting/measure/window_choice.hpp"

#include <gtest/gtest.h>

namespace tally::measure {
namespace {

result::Window window(const char* program, std::uint64_t number) {
  result::Window one;
  one.program = program;
  one.number = number;
  return one;
}

TEST(WindowChoice, takes_everything_without_options) {
  WindowFilter all({});
  EXPECT_TRUE(all.takes(window("sh", 1)));
  EXPECT_TRUE(all.takes(window("ls", 1'000'000)));
  EXPECT_TRUE(all.notices().empty());
}

TEST(WindowChoice, takes_programs_by_their_names) {
  WindowFilter only({.only = {"ls", "wc"}});
  EXPECT_FALSE(only.takes(window("sh", 1)));
  EXPECT_TRUE(only.takes(window("ls", 1)));
  EXPECT_TRUE(only.takes(window("wc", 1)));
  EXPECT_FALSE(only.takes(window("lsof", 1)));
  EXPECT_EQ(only.notices(), std::vector<std::string>{"left out: 2 windows of lsof, sh"});
  WindowFilter others({.without = {"sh"}});
  EXPECT_FALSE(others.takes(window("sh", 1)));
  EXPECT_TRUE(others.takes(window("ls", 1)));
  EXPECT_EQ(others.notices(), std::vector<std::string>{"left out: 1 window of sh"});
}

TEST(WindowChoice, accepts_a_name_that_the_kernel_cut) {
  WindowFilter only({.only = {"a-very-long-program"}});
  EXPECT_TRUE(only.takes(window("a-very-long-pro", 1)));
  EXPECT_TRUE(only.takes(window("a-very-long-program", 1)));
  EXPECT_FALSE(only.takes(window("a-very-long-p", 1)));
}

TEST(WindowChoice, reports_that_no_program_has_the_name) {
  WindowFilter only({.only = {"wc"}});
  EXPECT_FALSE(only.takes(window("sh", 1)));
  EXPECT_EQ(only.notices(), std::vector<std::string>{"no windows of the requested programs; omitted: 1 window of sh"});
}

TEST(WindowChoice, skips_and_takes_a_number_of_windows_of_each_thread) {
  WindowFilter some({.skip = 2, .windows = 3});
  std::vector<std::uint64_t> taken;
  for (std::uint64_t number = 1; number <= 8; ++number)
    if (some.takes(window("sh", number))) taken.push_back(number);
  EXPECT_EQ(taken, (std::vector<std::uint64_t>{3, 4, 5}));
}

}  // namespace
}  // namespace tally::measure
