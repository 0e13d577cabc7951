// `tally stat --baseline`: compares a result with a stored one, and decides the exit code.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/output/analysis/comparable.hpp"
#include "tally/output/result/stat_result.hpp"
#include "tally/tools/command/command.hpp"
#include "tally/tools/comparison/gate_options.hpp"

namespace tally::comparison {

/// The options as given.
struct BaselineOptions {
  std::string file;  ///< empty: no comparison
  GateOptions gates;
};

/// "failed", "undecided" or "passed", and the exit code; `undecided_code` is that of undecided gates.
std::pair<const char*, int> outcome_of(const output::JudgedComparison& judged, int undecided_code);

void add_baseline_options(command::Page& page, BaselineOptions& options);

/// A stored result, and the gates for a new one.
class Baseline {
 public:
  /// What the comparison of a result found.
  struct Outcome {
    result::BaselineVerdict verdict;
    std::string table;  ///< for people
    int exit_code = command::exit_ok;
  };

  /// Reads the stored result and parses the gates; nothing without `--baseline`. `command` and `output` are those of
  /// the new result. Errors: bad_usage, if a gate is wrong, its event is not in the stored result, or the file is
  /// missing.
  static Result<std::optional<Baseline>> open(const BaselineOptions& options, const std::vector<std::string>& command,
                                              const std::string& output);

  /// Checks before counting that these events, full names, include those of the gates. Errors: bad_usage.
  Result<void> check_events(const std::vector<std::string>& events) const;

  /// Compares a result. `terminal`: columns of the table; 0: any.
  Outcome judge(const result::Stat& stat, std::size_t terminal) const;

 private:
  Baseline(std::string file, output::Comparable before, std::vector<output::Gate> gates, int undecided_code)
      : file_(std::move(file)), before_(std::move(before)), gates_(std::move(gates)), undecided_code_(undecided_code) {}

  std::string file_;
  output::Comparable before_;
  std::vector<output::Gate> gates_;
  int undecided_code_;  ///< the exit code if no gate failed and one is undecided
};

}  // namespace tally::comparison
