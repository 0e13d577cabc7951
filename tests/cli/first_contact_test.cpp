// `tally` without arguments: five lines on a terminal, the help elsewhere.
#include <gtest/gtest.h>

#include "tally/core/base/text.hpp"
#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

TEST(FirstContact, is_five_lines_on_a_terminal) {
  if (Running({"/bin/sh", "-c", "command -v script >/dev/null"}).finish().code() != 0)
    GTEST_SKIP() << "script is not installed (package bsdutils)";
  // script runs it on a terminal of its own, and returns its exit code.
  const Finished finished = Running({"/usr/bin/env", "script", "-qec", TALLY_COMMAND, "/dev/null"}).finish();
  EXPECT_EQ(finished.code(), 2);
  EXPECT_EQ(split(trimmed(finished.out), '\n').size(), 5u) << finished.out;
  EXPECT_NE(finished.out.find("tally stat -- ls"), std::string::npos) << finished.out;
  EXPECT_NE(finished.out.find("/README.md"), std::string::npos) << finished.out;
}

TEST(FirstContact, is_the_help_without_a_terminal) {
  const Finished finished = tally({});
  EXPECT_EQ(finished.code(), 2);
  EXPECT_EQ(finished.out, "");
  EXPECT_EQ(finished.err, tally({"--help"}).out);
}

}  // namespace
}  // namespace tally::test
