// Texts as they were when somebody last looked at them, in tests/golden. TALLY_REBASE=1 in the environment writes them
// again: look at the difference before it is kept.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace tally {

/// Compares with the golden file of this name; `folder` is where they lie.
inline void expect_golden(const std::string& folder, const std::string& name, const std::string& text) {
  const std::string path = folder + "/" + name;
  if (const char* rebase = std::getenv("TALLY_REBASE"); rebase && std::string(rebase) == "1") {
    std::ofstream file(path, std::ios::binary);
    file << text;
    file.close();
    ASSERT_TRUE(file) << "cannot write " << path;
    GTEST_SKIP() << "written anew, not compared: " << path;
  }
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file) << "there is no " << path << "; TALLY_REBASE=1 writes it";
  std::ostringstream wanted;
  wanted << file.rdbuf();
  EXPECT_EQ(text, wanted.str()) << "differs from " << path << "; TALLY_REBASE=1 takes the new text";
}

}  // namespace tally
