// Runs the command of a stored result again, under the conditions that the result has.
#pragma once

#include <string>
#include <vector>

#include "tally/counting/measure/measure_stat.hpp"
#include "tally/linux/process/start_state.hpp"

namespace tally::why {

/// Reads the arguments of `tally stat`: the order, without baselines and outputs. Errors: bad_usage.
using StatReader = Result<measure::StatOptions> (*)(const std::vector<std::string>& arguments);

/// A command that can run again.
class Rerun {
 public:
  /// Prepares the command of a result that was measured with --path-hash. Errors: bad_usage if the result does not say
  /// how it was measured; cannot_measure if the directory or the program is missing, or the program has changed.
  static Result<Rerun> prepare(const result::Stat& stat, const std::string& file, StatReader read);

  /// The same command, with one variable as another result has it.
  void take_variable_of(const result::StartConditions& start, const std::string& name);
  /// No address randomisation.
  void fix_addresses() { fixes_addresses_ = true; }
  bool has_fixed_addresses() const { return fixes_addresses_; }
  /// --repeatable.
  void make_repeatable() { options_.conditions.repeatable = true; }
  bool is_repeatable() const { return options_.conditions.repeatable; }

  /// Runs it once. Its output is discarded. Errors: those of measure::stat().
  Result<result::Run> run(const backend::PathSettings& path, linux::Signals& signals) const;

  /// What differs from the run that the result describes: variables whose values are not known, streams.
  const std::vector<std::string>& deviations() const { return deviations_; }
  /// The program and its arguments.
  const std::vector<std::string>& command() const { return options_.target.command; }

 private:
  /// The environment that the program would get now.
  std::vector<std::string> own_environment() const { return linux::environment_for(options_.conditions); }

  measure::StatOptions options_;
  linux::StartState state_;
  std::vector<std::string> deviations_;
  bool fixes_addresses_ = false;
};

}  // namespace tally::why
