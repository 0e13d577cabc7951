#include "tally/core/base/parse_text.hpp"

#include <gtest/gtest.h>

namespace tally {
namespace {

using Words = std::vector<std::string>;

TEST(ParseText, splits_words_at_any_white_space) {
  EXPECT_EQ(split_words(" one\ttwo  three\r\n"), (Words{"one", "two", "three"}));
  EXPECT_EQ(split_words("one"), Words{"one"});
  EXPECT_EQ(split_words(""), Words{});
  EXPECT_EQ(split_words(" \t\n"), Words{});
}

TEST(ParseText, reads_whole_numbers_only) {
  EXPECT_EQ(parse_digits<int>("-12"), -12);
  EXPECT_EQ(parse_digits<std::uint64_t>("ffffffffffffffff", 16), ~std::uint64_t{0});
  for (const char* const text : {"", "12 ", " 12", "+12", "1e3", "4294967296"})
    EXPECT_EQ(parse_digits<std::uint32_t>(text), std::nullopt) << text;
  EXPECT_EQ(parse_digits<std::uint64_t>("0x10", 16), std::nullopt);
}

TEST(ParseText, reads_decimal_and_hexadecimal) {
  EXPECT_EQ(parse_unsigned("10"), 10u);
  EXPECT_EQ(parse_unsigned("0x10"), 16u);
  EXPECT_EQ(parse_unsigned("0XfF"), 255u);
  for (const char* const text : {"", "0x", "x10", "ff", "-1", "0x-1", "18446744073709551616"})
    EXPECT_EQ(parse_unsigned(text), std::nullopt) << text;
}

}  // namespace
}  // namespace tally
