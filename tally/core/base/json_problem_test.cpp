#include "tally/core/base/json_problem.hpp"

#include <gtest/gtest.h>

namespace tally {
namespace {

// The library's message for a text that it cannot parse.
std::string of_parse_error(const std::string& rest) {
  return json_problem("[json.exception.parse_error.101] parse error at " + rest);
}
std::string of_type_error(const std::string& rest) { return json_problem("[json.exception.type_error.302] " + rest); }

TEST(JsonProblem, names_the_line_and_column) {
  EXPECT_EQ(of_parse_error("line 2, column 28: syntax error while parsing object key - unexpected ','; expected string "
                           "literal"),
            "line 2, column 28 is not valid JSON: unexpected ','");
  EXPECT_EQ(of_parse_error("line 4, column 123: syntax error while parsing object - invalid literal; last read: '\"x'"),
            "line 4, column 123 is not valid JSON: invalid literal");
}

TEST(JsonProblem, reports_an_incomplete_file) {
  EXPECT_EQ(
      of_parse_error("line 70, column 4: syntax error while parsing object key - unexpected end of input; expected "
                     "string literal"),
      "it ends within a value at line 70, column 4: the file is incomplete");
  EXPECT_EQ(
      of_parse_error("line 9, column 4: syntax error while parsing value - invalid string: missing closing quote; "
                     "last read: '\"a'"),
      "it ends within a value at line 9, column 4: the file is incomplete");
}

TEST(JsonProblem, names_the_key_of_a_wrong_value) {
  EXPECT_EQ(of_type_error("(/exit_code) incompatible ReferenceType for get_ref, actual type is string"),
            "/exit_code has the wrong type: it is a string");
  EXPECT_EQ(of_type_error("(/a/0) type must be string, but is array"), "/a/0 must be a string, but is an array");
  EXPECT_EQ(of_type_error("type must be number, but is null"), "a value must be a number, but is null");
  EXPECT_EQ(json_problem("[json.exception.out_of_range.403] (/a) key 'd' not found"), "/a has no key 'd'");
  EXPECT_EQ(json_problem("[json.exception.out_of_range.403] key 'd' not found"), "it has no key 'd'");
  EXPECT_EQ(json_problem("[json.exception.out_of_range.406] (/n) -1 is negative"), "/n: -1 is negative");
}

TEST(JsonProblem, leaves_other_messages_alone) {
  EXPECT_EQ(json_problem("it has no Events"), "it has no Events");
  EXPECT_EQ(json_problem(""), "");
  EXPECT_EQ(json_problem("[json.exception.x"), "[json.exception.x");
}

TEST(JsonProblem, of_one_line_of_a_file_has_the_column_alone) {
  EXPECT_EQ(json_problem_in_line("[json.exception.parse_error.101] parse error at line 1, column 2: syntax error while "
                                 "parsing value - invalid literal; last read: 'no'"),
            "column 2 is not valid JSON: invalid literal");
  EXPECT_EQ(json_problem_in_line("it has no Events"), "it has no Events");
}

}  // namespace
}  // namespace tally
