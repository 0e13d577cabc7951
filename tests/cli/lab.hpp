// What the tests of `tally lab` share.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/program.hpp"

namespace tally::test {

inline bool has_arm_assembler() { return shell("command -v aarch64-linux-gnu-as").code() == 0; }

#define TALLY_NEEDS_ARM_ASSEMBLER() \
  if (!has_arm_assembler()) GTEST_SKIP() << "aarch64-linux-gnu-as is not installed: nothing assembles the programs"

inline bool has_nasm() { return shell("command -v nasm").code() == 0; }

#define TALLY_NEEDS_NASM() \
  if (!has_nasm()) GTEST_SKIP() << "nasm is not installed: nothing assembles the programs"

inline Finished lab(Words words) {
  words.insert(words.begin(), "lab");
  return tally(words);
}

/// Runs an x86 program.
inline Finished lab_of(const std::string& program, Words options = {}) {
  const TemporaryFile file("program.asm", program);
  options.push_back(file.path());
  return lab(options);
}

/// The text that the program of a run printed.
inline std::string output_of(const nlohmann::json& run) {
  std::string text;
  for (const nlohmann::json& entry : run["entries"]) {
    if (entry["kind"] == "output") text += entry["text"];
  }
  return text;
}

}  // namespace tally::test
