#include "tally/core/base/foreign_text.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <type_traits>

#include "tally/core/base/json_text.hpp"

namespace tally {
namespace {

TEST(ForeignText, cannot_be_printed_without_a_form) {
  EXPECT_FALSE((std::is_convertible_v<ForeignText, std::string>));
  EXPECT_FALSE((std::is_convertible_v<ForeignText, std::string_view>));
  EXPECT_FALSE((std::is_convertible_v<std::string, ForeignText>));
  EXPECT_FALSE((fmt::is_formattable<ForeignText>::value));
}

TEST(ForeignText, control_characters_become_escapes) {
  EXPECT_EQ(ForeignText("a\x1b[31m\r\n\tb\x7f").in_line(), "a\\x1b[31m\\r\\n\\tb\\x7f");
  EXPECT_EQ(ForeignText(std::string_view("a\0b", 3)).in_line(), "a\\x00b");
  // CSI as one C1 character, a line separator, a direction override.
  EXPECT_EQ(ForeignText("\xc2\x9b"
                        "1m \xe2\x80\xa8 \xe2\x80\xae")
                .in_line(),
            "\\u009b1m \\u2028 \\u202e");
  EXPECT_EQ(ForeignText("plain µ € 😀 \\n").in_line(), "plain µ € 😀 \\n");
}

TEST(ForeignText, bytes_that_are_no_utf8_are_replaced) {
  EXPECT_EQ(ForeignText("gr\xf6\xdf"
                        "e")
                .in_line(),
            "gr\uFFFD\uFFFDe");
  EXPECT_EQ(ForeignText("\xe5\x90").in_line(), "\uFFFD\uFFFD") << "a name that was cut within a character";
  for (const char* wrong : {"\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "\x80"}) {
    EXPECT_EQ(ForeignText(wrong).utf8().find_first_not_of("\xEF\xBF\xBD"), std::string::npos) << wrong;
  }
  EXPECT_EQ(ForeignText("a\n\xff").utf8(), "a\n\uFFFD");
}

TEST(JsonText, has_no_control_characters) {
  EXPECT_EQ(without_controls("{\"a\x7f\":\"\xc2\x9b\xc2\xb5 \u202e\u20ac\u2066\"}"),
            "{\"a\\u007f\":\"\\u009b\u00b5 \\u202e\u20ac\\u2066\"}");
  EXPECT_EQ(without_controls("{}"), "{}");
}

TEST(ForeignText, is_the_same_when_it_is_escaped_again) {
  for (const char* text : {"a\nb", "\x1b", "\xff", "ok \\ ok"}) {
    const std::string once = ForeignText(text).in_line();
    EXPECT_EQ(ForeignText(once).in_line(), once);
    EXPECT_TRUE(ForeignText(once).is_plain());
  }
  EXPECT_FALSE(ForeignText("a\nb").is_plain());
  EXPECT_FALSE(ForeignText("\xff").is_plain());
}

TEST(ForeignText, of_several_lines_breaks_and_tabs_stay) {
  EXPECT_EQ(ForeignText("a\tb\n\x1b[0m").in_lines(), "a\tb\n\\x1b[0m");
}

}  // namespace
}  // namespace tally
