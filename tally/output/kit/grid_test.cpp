#include "tally/output/kit/grid.hpp"

#include <gtest/gtest.h>

#include "tally/core/base/text.hpp"

namespace tally::output {
namespace {

Grid sample_grid() {
  Grid grid({{"share", Align::right},
             {"instructions:u", Align::right},
             {"loads:u", Align::right},
             {"function", Align::left, 20, true},
             {"remark"}});
  grid.add({"62.5 %", "2,501,138,701", "702,114,020", "std::vector<int, std::allocator<int>>::push_back(int&&)", ""});
  grid.add({"37.5 %", "1,500,683,220", "1,204", "main", "a reason in several words, which may go on below"});
  return grid;
}

std::size_t widest_line(const std::string& text) {
  std::size_t most = 0;
  for (const std::string& line : split(text, '\n')) most = std::max(most, display_width(line));
  return most;
}

TEST(GridInATerminal, of_60_columns_leaves_out_what_does_not_fit_and_says_so) {
  EXPECT_EQ(sample_grid().text(60),
            " function                 share  instructions:u      loads:u\n"
            " std…::push_back(int&&)  62.5 %   2,501,138,701  702,114,020\n"
            " main                    37.5 %   1,500,683,220        1,204\n"
            " left out: remark; a terminal of 96 columns or a file shows\n"
            " them\n");
}

TEST(GridInATerminal, of_80_columns_begins_with_the_name) {
  const std::string text = sample_grid().text(80);
  EXPECT_LE(widest_line(text), 80u);
  EXPECT_TRUE(text.starts_with(" function "));
  EXPECT_NE(text.find("…::push_back(int&&) "), std::string::npos) << text;
  EXPECT_NE(text.find("\n main "), std::string::npos);
}

TEST(GridInATerminal, never_makes_two_names_one) {
  Grid grid({{"event"}, {"count", Align::right}, {"trust"}});
  grid.add({"conditional-taken:u", "59,762", "exact, and a reason that is far too long for a line of a terminal"});
  grid.add({"conditional-not-taken:u", "98,995", "exact"});
  for (const std::size_t terminal : {30, 40, 60, 80}) {
    const std::string text = grid.text(terminal);
    std::vector<std::string> names;
    for (const std::string& line : split(text, '\n'))
      if (line.starts_with(" cond")) names.push_back(line.substr(0, line.find(' ', 1)));
    ASSERT_EQ(names.size(), 2u) << text;
    EXPECT_NE(names[0], names[1]) << text;
  }
}

TEST(GridInATerminal, of_200_columns_is_what_it_is_without_one) {
  EXPECT_EQ(sample_grid().text(200), sample_grid().text());
  EXPECT_TRUE(sample_grid().text().starts_with("  share"));
  EXPECT_NE(sample_grid().text().find("push_back(int&&)"), std::string::npos) << "nothing is cut";
}

TEST(GridInATerminal, breaks_no_number_where_none_fits) {
  Grid grid({{"name"}, {"count", Align::right}, {"other", Align::right}});
  grid.add({"a", "123,456,789,012", "1,000,000"});
  EXPECT_TRUE(grid.text(10).starts_with(" name            count\n a     123,456,789,012\n left out:")) << grid.text(10);
}

TEST(GridInATerminal, keeps_the_own_name_of_a_function_and_numbers_alike_ones) {
  Grid grid({{"share", Align::right}, {"function", Align::left, 20, true}});
  const std::string begin = "std::_Hashtable<" + std::string(300, 'a'), end = std::string(300, 'b') + ">::insert";
  for (const char* const middle : {"x", "y", "x"}) grid.add({"12.5 %", begin + middle + end});
  EXPECT_EQ(grid.text(40),
            " function                          share\n"
            " std::_Hashtable<aaaa…::insert#1  12.5 %\n"
            " std::_Hashtable<aaaa…::insert#2  12.5 %\n"
            " std::_Hashtable<aaaa…::insert#1  12.5 %\n");
}

TEST(GridInATerminal, cuts_names_where_they_differ) {
  Grid grid({{"event"}, {"count", Align::right}});
  for (const char* const name : {"L1-dcache-load-misses:u", "L1-dcache-store-misses:u", "loads:u"})
    grid.add({name, "1"});
  EXPECT_EQ(grid.text(23),
            " event             count\n"
            " L1-dcache-load-…      1\n"
            " L1-dcache-store…      1\n"
            " loads:u               1\n");
  Grid modes({{"event"}, {"count", Align::right}});
  for (const char* const name : {"L1-dcache-load-misses:u", "L1-dcache-load-misses:k"}) modes.add({name, "1"});
  EXPECT_NE(modes.text(23).find(" L1-dcach…isses:k "), std::string::npos) << "the middle is the same\n"
                                                                          << modes.text(23);
}

TEST(GridInATerminal, wraps_formulas_and_leaves_them_out_before_it_cuts_them) {
  Grid grid({{"metric"}, {"value", Align::right}, formula_column("formula"), key_column("trust")});
  grid.add({"rate", "50 %", "(operations - operations-scalar) / operations", "exact"});
  EXPECT_EQ(grid.text(50),
            " metric  value  formula                      trust\n"
            " rate     50 %  (operations -                exact\n"
            "                operations-scalar) /\n"
            "                operations\n");
  EXPECT_EQ(grid.text(38),
            " metric  value  trust\n"
            " rate     50 %  exact\n"
            " left out: formula; a terminal of 68\n"
            " columns or a file shows them\n");
}

TEST(GridInATerminal, cuts_no_line_number_and_no_word) {
  EXPECT_EQ(shortened_cell("48 K (measured 49.9 K)", 13), "48 K…");
  EXPECT_EQ(shortened_cell("+36.0 ns [34.0, 39.0]", 15), "+36.0 ns…");
  EXPECT_EQ(shortened_cell("/usr/include/c++/12/bits/basic_string.h:3142", 20), "/usr/inclu…ng.h:3142");
  EXPECT_EQ(shortened_cell("a.cpp:123456", 9), "a…:123456");
  EXPECT_EQ(shortened_cell("31.4 % of conditional-branches", 26), "31.4 % of…");
  EXPECT_EQ(shortened_cell("a::b<c::d>::run(e::f)", 16), "a::b…::run(e::f)");
  EXPECT_EQ(shortened_cell("short", 5), "short");
}

TEST(GridInATerminal, shortens_in_the_middle_by_characters) {
  EXPECT_EQ(shortened("abcdefgh", 8), "abcdefgh");
  EXPECT_EQ(shortened("abcdefgh", 5), "ab…gh");
  EXPECT_EQ(shortened("äöüßéèçñ", 4), "äö…ñ");
  EXPECT_EQ(shortened("abc", 1), "…");
}

}  // namespace
}  // namespace tally::output
