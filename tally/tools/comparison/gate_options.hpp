// The gates of `tally compare` and `tally stat --baseline`, and the results that they compare.
#pragma once

#include <string>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/output/analysis/comparable.hpp"
#include "tally/output/analysis/gates.hpp"
#include "tally/tools/command/command_page.hpp"

namespace tally::comparison {

/// The options as given.
struct GateOptions {
  std::vector<std::string> hard, soft;
  std::string file;             ///< with more gates
  std::string undecided = "3";  ///< the exit code of undecided gates: "fail", "pass", "3"
  bool any() const { return !hard.empty() || !soft.empty() || !file.empty(); }
};

/// Adds `--fail-above`, `--warn-above`, `--gates` and `--undecided`.
void add_gate_options(command::Page& page, GateOptions& options);
/// Adds `--baseline`: a file, or the directory of a suite's results.
void add_baseline_option(command::Page& page, std::string& baseline);
/// Adds `--undecided` alone.
void add_undecided_option(command::Page& page, std::string& undecided);
/// The exit code if no gate failed and one is undecided.
int undecided_exit_code(const std::string& undecided);

/// Reads all gates, those of the command line first. Errors: bad_usage.
Result<std::vector<output::Gate>> read_gates(const GateOptions& options);

/// The help text of the files that can be compared.
std::string comparable_lines();

/// Reads a file with one result that can be compared, of tally or another tool. Errors: bad_usage.
Result<output::Comparable> read_comparable(const std::string& file);

}  // namespace tally::comparison
