// Text in lines of 80 columns.
#include "tally/output/kit/wrap.hpp"

#include <gtest/gtest.h>

#include "tally/core/base/text.hpp"

namespace tally::output {
namespace {

std::string words(std::size_t count, const std::string& word) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += (i == 0 ? "" : " ") + word;
  return text;
}

TEST(Hanging, ends_with_a_line_break) {
  EXPECT_EQ(hanging("", "text"), "text\n");
  EXPECT_EQ(hanging("", ""), "\n");
  EXPECT_EQ(hanging("  -n N  ", "how many"), "  -n N  how many\n");
}

TEST(Hanging, fills_80_columns_and_not_81) {
  const std::string full = words(16, "1234");  // 79 columns
  EXPECT_EQ(hanging("", full + "5"), full + "5\n");
  EXPECT_EQ(hanging("", full + "56"), words(15, "1234") + "\n123456\n");
}

TEST(Hanging, begins_further_lines_below_the_text) {
  const std::string text = hanging("  -n N  ", words(40, "word"));
  const auto lines = split(text, '\n');
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_TRUE(lines[0].starts_with("  -n N  word"));
  EXPECT_TRUE(lines[1].starts_with("        word"));
  EXPECT_TRUE(lines[2].starts_with("        word"));
}

TEST(Hanging, leaves_the_text_a_third_of_the_line) {
  const std::string start(70, 'x');
  const auto lines = split(hanging(start, words(20, "word")), '\n');
  ASSERT_GE(lines.size(), 3u);
  EXPECT_EQ(lines[1].find_first_not_of(' '), 53u);
}

TEST(Hanging, keeps_a_word_that_is_longer_than_a_line) {
  const std::string path(100, 'p');
  EXPECT_EQ(hanging("", "at " + path + " end"), "at\n" + path + "\nend\n");
}

TEST(Hanging, counts_columns_and_not_bytes) {
  const std::string dash = "–––––––––";  // 9 columns, 27 bytes
  EXPECT_EQ(split(hanging("", words(8, dash)), '\n').size(), 2u);
}

}  // namespace
}  // namespace tally::output
