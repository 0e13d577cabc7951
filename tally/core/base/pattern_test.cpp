#include "tally/core/base/pattern.hpp"

#include <gtest/gtest.h>

namespace tally {
namespace {

TEST(Patterns, have_stars_and_question_marks) {
  EXPECT_TRUE(matches_pattern("parse", "parse"));
  EXPECT_FALSE(matches_pattern("parse", "parser"));
  EXPECT_TRUE(matches_pattern("*::bench::*", "crate::bench::run"));
  EXPECT_TRUE(matches_pattern("p?rse*", "parse(int)"));
  EXPECT_FALSE(matches_pattern("p?rse*", "prse"));
  EXPECT_TRUE(matches_pattern("*", ""));
  EXPECT_TRUE(matches_pattern("a*b*c", "aXbXbc"));
  EXPECT_FALSE(matches_pattern("a*b*c", "aXbXb"));
}

}  // namespace
}  // namespace tally
