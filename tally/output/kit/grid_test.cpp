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

// Every number is unbroken, wherever it is.
void expect_numbers(const std::string& text) {
  for (const char* number : {"62.5 %", "37.5 %", "2,501,138,701", "1,500,683,220", "702,114,020", "1,204"})
    EXPECT_NE(text.find(number), std::string::npos) << number << " in\n" << text;
}

TEST(GridInATerminal, of_60_columns_has_two_tables) {
  const std::string text = sample_grid().text(60);
  EXPECT_LE(widest_line(text), 60u);
  expect_numbers(text);
  EXPECT_EQ(text,
            " function                 share  instructions:u      loads:u\n"
            " std::vector…ack(int&&)  62.5 %   2,501,138,701  702,114,020\n"
            " main                    37.5 %   1,500,683,220        1,204\n"
            "\n"
            " function                      remark\n"
            " std::vector<in…h_back(int&&)\n"
            " main                          a reason in several words,\n"
            "                               which may go on below\n");
}

TEST(GridInATerminal, of_80_columns_begins_with_the_name) {
  const std::string text = sample_grid().text(80);
  EXPECT_LE(widest_line(text), 80u);
  expect_numbers(text);
  EXPECT_TRUE(text.starts_with(" function "));
  EXPECT_NE(text.find("\n std::"), std::string::npos);
  EXPECT_NE(text.find("…"), std::string::npos);
  EXPECT_EQ(text.find("\n\n"), std::string::npos) << "one table";
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
      if (line.find("taken:u") != std::string::npos) names.push_back(line.substr(0, line.find("taken:u")));
    ASSERT_GE(names.size(), 2u) << text;
    for (std::size_t i = 0; i + 1 < names.size(); i += 2) EXPECT_NE(names[i], names[i + 1]) << text;
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
  EXPECT_EQ(grid.text(10), " name            count\n a     123,456,789,012\n\n name      other\n a     1,000,000\n");
}

TEST(GridInATerminal, shortens_in_the_middle_by_characters) {
  EXPECT_EQ(shortened("abcdefgh", 8), "abcdefgh");
  EXPECT_EQ(shortened("abcdefgh", 5), "ab…gh");
  EXPECT_EQ(shortened("äöüßéèçñ", 4), "äö…ñ");
  EXPECT_EQ(shortened("abc", 1), "…");
}

}  // namespace
}  // namespace tally::output
