#include "tally/core/base/text.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace tally {
namespace {

TEST(Text, thousands_groups_by_three) {
  EXPECT_EQ(thousands(0), "0");
  EXPECT_EQ(thousands(999), "999");
  EXPECT_EQ(thousands(1'000), "1,000");
  EXPECT_EQ(thousands(-1'234'567), "-1,234,567");
  EXPECT_EQ(thousands(-123), "-123");
  EXPECT_EQ(thousands(std::numeric_limits<std::int64_t>::min()), "-9,223,372,036,854,775,808");
}

TEST(Text, durations_choose_their_unit_after_rounding) {
  EXPECT_EQ(duration_text(Nanoseconds{0}), "0 ns");
  EXPECT_EQ(duration_text(Nanoseconds{999}), "999 ns");
  EXPECT_EQ(duration_text(Nanoseconds{1'000}), "1.000 µs");
  EXPECT_EQ(duration_text(Nanoseconds{850'000}), "850.0 µs");
  EXPECT_EQ(duration_text(Nanoseconds{999'960}), "1.000 ms");
  EXPECT_EQ(duration_text(Nanoseconds{12'310'000}), "12.31 ms");
  EXPECT_EQ(duration_text(Nanoseconds{7'190'000'000}), "7.190 s");
  EXPECT_EQ(duration_text(Nanoseconds{123'456'000'000'000}), "123456 s");
  EXPECT_EQ(duration_text(Nanoseconds{-1'500}), "-1.500 µs");
}

TEST(Text, sizes_are_binary) {
  EXPECT_EQ(bytes_text(512), "512 B");
  EXPECT_EQ(bytes_text(1024), "1.000 KiB");
  EXPECT_EQ(bytes_text(13'002'342), "12.40 MiB");
}

TEST(Text, percents_keep_three_digits) {
  EXPECT_EQ(percent_text(0), "0 %");
  EXPECT_EQ(percent_text(17.07), "17.1 %");
  EXPECT_EQ(percent_text(4.941), "4.94 %");
  EXPECT_EQ(percent_text(0.5311), "0.531 %");
  EXPECT_EQ(percent_text(99.96), "100 %");
  EXPECT_EQ(percent_text(0.0004), "<0.001 %");
}

TEST(Text, split_and_join_are_inverse) {
  EXPECT_EQ(split("a,,b", ','), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(split("", ','), (std::vector<std::string>{""}));
  EXPECT_EQ(join({"a", "", "b"}, ","), "a,,b");
}

TEST(Text, shell_words_quote_what_a_shell_would_change) {
  EXPECT_EQ(shell_words({"sh", "-c", "echo $HOME", "", "it's"}), "sh -c 'echo $HOME' '' 'it'\\''s'");
}

TEST(Text, widths_count_characters_not_bytes) { EXPECT_EQ(display_width("12 µs · ok"), 10u); }

TEST(Text, control_characters_do_not_reach_the_terminal) { EXPECT_EQ(printable("a\x1b[31m\nb"), "a\\x1b[31m\\nb"); }

TEST(Text, plain_numbers_have_four_digits) {
  EXPECT_EQ(number_text(2.0769), "2.077");
  EXPECT_EQ(number_text(0.53), "0.53");
  EXPECT_EQ(number_text(0), "0");
  EXPECT_EQ(number_text(-1234.56), "-1235");
  EXPECT_EQ(number_text(1234567.8), "1,234,568");
  EXPECT_EQ(number_text(0.0000151), "1.51e-05");
}

TEST(Text, bytes_that_are_no_utf8_are_replaced) {
  EXPECT_EQ(valid_utf8("plain µ € 😀"), "plain µ € 😀");
  EXPECT_EQ(valid_utf8("a\xff\xfe"), "a\xEF\xBF\xBD\xEF\xBF\xBD");
  for (const char* wrong : {"\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "\x80"}) {
    EXPECT_EQ(valid_utf8(wrong).find_first_not_of("\xEF\xBF\xBD"), std::string::npos) << wrong;
  }
}

TEST(Text, edit_distance_counts_a_swap_as_one) {
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("laods", "loads"), 1u);
}

TEST(Text, nearest_suggests_only_similar_names) {
  const std::vector<std::string> names{"instructions", "branches", "loads", "stores", "conditional-branches"};
  EXPECT_EQ(nearest("instrutcions", names), (std::vector<std::string>{"instructions"}));
  EXPECT_EQ(nearest("branch", names), (std::vector<std::string>{"branches", "conditional-branches"}));
  EXPECT_TRUE(nearest("zzzzzzzz", names).empty());
  EXPECT_TRUE(nearest("x", {"ls", "y"}).empty());
}

TEST(Text, signals_have_names_where_the_system_has_one) {
  EXPECT_EQ(signal_name(11), "SIGSEGV");
  EXPECT_EQ(signal_name(63), "signal 63");
}

TEST(Text, integers_are_taken_whole_or_not_at_all) {
  EXPECT_EQ(parse_integer("42"), 42);
  EXPECT_EQ(parse_integer("-1"), -1);
  EXPECT_FALSE(parse_integer("42 "));
  EXPECT_FALSE(parse_integer(""));
  EXPECT_FALSE(parse_integer("99999999999999999999"));
}

TEST(Wrapped, breaks_between_words_and_never_in_one) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(wrapped("one two three", 7), (Lines{"one two", "three"}));
  EXPECT_EQ(wrapped("one  two", 80), (Lines{"one two"}));
  EXPECT_EQ(wrapped("a_word_that_is_long b", 6), (Lines{"a_word_that_is_long", "b"}));
  EXPECT_EQ(wrapped("µ µ µ", 5), (Lines{"µ µ µ"}));
  EXPECT_EQ(wrapped("", 5), (Lines{""}));
}

}  // namespace
}  // namespace tally
