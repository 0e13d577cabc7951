// Writes the programs to files, for other tools to count.
#pragma once

#include <string>
#include <vector>

#include "programs/verify/bench.hpp"
#include "tally/core/base/result.hpp"

namespace tally::verify {

/// The programs to write, and their parameters if not the defaults.
struct ProgramSelection {
  std::vector<std::string> programs;  ///< names; empty: all
  workload::Parameters parameters;    ///< 0: the program's default
};

/// The requested programs with their parameters. Without names: all programs that support the parameters. Errors:
/// bad_usage for an unknown name, and if a named program does not support the parameters.
Result<std::vector<Trial>> chosen(const ProgramSelection& wanted);

/// Writes each program as an ELF file, and their counts to README.md. Errors: cannot_write.
Result<void> write_programs(const std::string& folder, const std::vector<Trial>& trials);

/// The text of that README.
std::string expected_counts(const std::vector<Trial>& trials);

}  // namespace tally::verify
