// What `tally --version` prints.
#include "tally/cli/build_description.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tally/core/base/text.hpp"
#include "tally/core/base/version.hpp"

namespace tally::cli {
namespace {

TEST(BuildDescription, has_the_version_alone_in_its_first_line) {
  const std::string text = build_description();
  EXPECT_EQ(text.substr(0, text.find('\n')), "tally " + std::string(version()));
  EXPECT_TRUE(text.ends_with("\n"));
}

TEST(BuildDescription, names_commit_and_build) {
  const std::string text = build_description();
  EXPECT_EQ(text.find("commit: ") != std::string::npos, !commit().empty());
  EXPECT_TRUE(commit().empty() || commit().size() == 12) << commit();
  EXPECT_TRUE(std::ranges::all_of(
      commit(), [](char c) { return std::string_view("0123456789abcdef").find(c) != std::string_view::npos; }));
  EXPECT_NE(text.find(", engine "), std::string::npos) << text;
  EXPECT_NE(text.find(", static "), std::string::npos) << text;
}

}  // namespace
}  // namespace tally::cli
