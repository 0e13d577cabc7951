// The programs as files, for other tools to count.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/tools/verify/bench.hpp"

namespace tally::verify {

/// What programs are written out with, where that is not their usual.
struct Wanted {
  std::vector<std::string> programs;  ///< names; empty: all
  workload::Parameters parameters;    ///< 0: the program's usual
};

/// These programs with these parameters. Errors: bad_usage for an unknown name, and, for programs that were named, for
/// parameters that they cannot have; of all programs those that can have them are meant.
Result<std::vector<Trial>> chosen(const Wanted& wanted);

/// Writes each as an ELF file with its counts beside it, README.md. Errors: cannot_write.
Result<void> write_programs(const std::string& folder, const std::vector<Trial>& trials);

/// That README.
std::string expected_counts(const std::vector<Trial>& trials);

}  // namespace tally::verify
