/// GoogleTest: limits for what regions execute. C++11; GoogleTest 1.10 or later.
///
///     TEST(Parser, is_fast) {
///       tally_region_begin("parse");
///       parse(input);
///       tally_region_end("parse");
///       TALLY_EXPECT_AT_MOST("parse", "instructions", 1'000'000);
///     }
#pragma once

#include <gtest/gtest.h>

#include "tally/library/testing.hpp"

#define TALLY_GTEST_AT_MOST(region, event, limit, fail)                            \
  switch (0)                                                                       \
  case 0:                                                                          \
  default:                                                                         \
    if (const ::tally::Limit tally_limit = ::tally::at_most(region, event, limit)) \
      ;                                                                            \
    else if (tally_limit.kind == ::tally::Limit::unknown)                          \
      GTEST_SKIP() << tally_limit.text;                                            \
    else                                                                           \
      fail() << tally_limit.text

/** A nonfatal failure if an entry of the region counted more; skips the test, with the reason, if nothing can be
 * counted here. */
#define TALLY_EXPECT_AT_MOST(region, event, limit) TALLY_GTEST_AT_MOST(region, event, limit, ADD_FAILURE)
/** The same with a fatal failure. */
#define TALLY_ASSERT_AT_MOST(region, event, limit) TALLY_GTEST_AT_MOST(region, event, limit, FAIL)
