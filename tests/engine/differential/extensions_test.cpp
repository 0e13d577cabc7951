#include "tests/engine/differential/extensions.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace tally::differential {
namespace {

TEST(Extensions, are_those_that_the_processor_lacks) {
  const Processor some = parse_processor(
      "processor\t: 0\nmodel name\t: Some Processor\nflags\t\t: fpu avx avx2 avx512f amx_tile\n\n"
      "processor\t: 1\nmodel name\t: Another\nflags\t\t: fpu\n");
  EXPECT_EQ(some.name, "Some Processor");
  const std::vector<std::string> missing = missing_extensions(some);
  const auto lacks = [&missing](const char* name) {
    return std::find(missing.begin(), missing.end(), name) != missing.end();
  };
  EXPECT_TRUE(lacks("AVX-512BW"));
  EXPECT_TRUE(lacks("RTM (transactions that begin)"));
  EXPECT_FALSE(lacks("AVX"));
  EXPECT_FALSE(lacks("AVX-512F"));
  EXPECT_FALSE(lacks("AMX-TILE"));
}

TEST(Extensions, are_reported_for_this_processor) { EXPECT_NE(untested_here().find("not "), std::string::npos); }

}  // namespace
}  // namespace tally::differential
