/// Catch2, versions 2 and 3: limits for what regions execute. C++11.
///
///     TEST_CASE("the parser is fast") {
///       tally_region_begin("parse");
///       parse(input);
///       tally_region_end("parse");
///       TALLY_EXPECT_AT_MOST("parse", "instructions", 1'000'000);
///     }
#pragma once

#if __has_include(<catch2/catch_test_macros.hpp>)
#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>
#else
#include <catch2/catch.hpp>
#endif

#include "tally/library/testing.hpp"

// Catch2 2 cannot skip: a warning has the reason, and the test has no assertion, which `-w NoAssertions` reports.
#ifdef SKIP
#define TALLY_CATCH_UNKNOWN(text) SKIP(text)
#else
#define TALLY_CATCH_UNKNOWN(text) WARN("skipped: " << (text))
#endif

#define TALLY_CATCH_AT_MOST(region, event, limit, fail)                        \
  do {                                                                         \
    const ::tally::Limit tally_limit = ::tally::at_most(region, event, limit); \
    if (tally_limit.kind == ::tally::Limit::unknown) {                         \
      TALLY_CATCH_UNKNOWN(tally_limit.text);                                   \
    } else if (tally_limit) {                                                  \
      SUCCEED(tally_limit.text);                                               \
    } else {                                                                   \
      fail(tally_limit.text);                                                  \
    }                                                                          \
  } while (false)

/** A failure after which the test continues if an entry of the region counted more; skips the test, with the reason, if
 * nothing can be counted here. */
#define TALLY_EXPECT_AT_MOST(region, event, limit) TALLY_CATCH_AT_MOST(region, event, limit, FAIL_CHECK)
/** The same with a failure that ends the test. */
#define TALLY_ASSERT_AT_MOST(region, event, limit) TALLY_CATCH_AT_MOST(region, event, limit, FAIL)
