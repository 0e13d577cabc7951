// Golden texts in tests/golden. TALLY_REBASE=1 in the environment rewrites them: review the difference before you keep
// it.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace tally {

/// Compares with the golden file of this name in directory `folder`.
inline void expect_golden(const std::string& folder, const std::string& name, const std::string& text) {
  const std::string path = folder + "/" + name;
  if (const char* rebase = std::getenv("TALLY_REBASE"); rebase && std::string(rebase) == "1") {
    std::ofstream file(path, std::ios::binary);
    file << text;
    file.close();
    ASSERT_TRUE(file) << "cannot write " << path;
    GTEST_SKIP() << "rewritten, not compared: " << path;
  }
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file) << "missing file " << path << "; TALLY_REBASE=1 writes it";
  std::ostringstream expected;
  expected << file.rdbuf();
  EXPECT_EQ(text, expected.str()) << "differs from " << path << "; TALLY_REBASE=1 accepts the new text";
}

}  // namespace tally
