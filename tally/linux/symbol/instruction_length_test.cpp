#include "tally/linux/symbol/instruction_length.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tally::symbol {
namespace {

using namespace std::literals;

TEST(InstructionLength, of_each_form) {
  for (const std::string_view code : {"\x90"sv,
                                      "\xc3"sv,
                                      "\x48\x89\xe5"sv,
                                      "\x83\xc0\x01"sv,
                                      "\x66\x81\xc1\x34\x12"sv,
                                      "\x48\xb8\1\2\3\4\5\6\7\x08"sv,
                                      "\xb8\1\2\3\4"sv,
                                      "\xf7\xc1\1\0\0\0"sv,
                                      "\xf7\xd1"sv,
                                      "\xf6\x40\x08\1"sv,
                                      "\xc8\1\0\2"sv,
                                      "\xa1\1\2\3\4\5\6\7\x08"sv,
                                      "\x8b\x04\x25\0\1\2\3"sv,
                                      "\x8b\x05\0\1\2\3"sv,
                                      "\x8b\x44\x24\x08"sv,
                                      "\x0f\x1f\x84\0\0\0\0\0"sv,
                                      "\x66\x2e\x0f\x1f\x84\0\0\0\0\0"sv,
                                      "\x0f\x84\1\2\3\4"sv,
                                      "\x74\x05"sv,
                                      "\x0f\xba\xe0\x05"sv,
                                      "\x0f\xa2"sv,
                                      "\x66\x0f\x38\x00\xc1"sv,
                                      "\x66\x0f\x3a\x0f\xc1\x04"sv,
                                      "\xc5\xf8\x77"sv,
                                      "\xc5\xfd\x70\xc1\x1b"sv,
                                      "\xc4\xe2\x7d\x18\x05\0\1\2\3"sv,
                                      "\xc4\xe3\x7d\x19\xc1\1"sv,
                                      "\x62\xf1\x7c\x48\x10\x40\1"sv,
                                      "\x62\xf3\xfd\x48\x25\xc0\xff"sv,
                                      "\xf0\x48\x0f\xb1\x17"sv,
                                      "\xe8\1\2\3\4"sv,
                                      "\xff\x25\1\2\3\4"sv}) {
    const std::string with_more = std::string(code) + std::string(15, '\x90');
    EXPECT_EQ(instruction_length(with_more), code.size()) << testing::PrintToString(std::string(code));
    if (code.size() > 1) EXPECT_EQ(instruction_length(code.substr(0, code.size() - 1)), 0u);
  }
  EXPECT_EQ(instruction_length("\x06\0\0\0\0"sv), 0u) << "push es does not exist";
  EXPECT_EQ(instruction_length(std::string(20, '\x66')), 0u);
  EXPECT_EQ(instruction_length(""), 0u);
}

}  // namespace
}  // namespace tally::symbol
