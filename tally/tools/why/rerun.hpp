// Runs the command of a stored result again, under the conditions that the result has.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tally/counting/measure/measure_stat.hpp"
#include "tally/linux/process/start_state.hpp"

namespace tally::why {

/// Reads the arguments of `tally stat`: the order, without baselines and outputs. Errors: bad_usage.
using StatReader = Result<measure::StatOptions> (*)(const std::vector<std::string>& arguments);

/// The options of the `tally stat` that measured a result. Errors: bad_usage if another command did.
Result<measure::StatOptions> stored_options(const result::Stat& stat, StatReader read);

/// One thing in which two stored runs were started differently.
struct StartDifference {
  enum class Kind { variable, repeatable, clock, command, cpu_model, directory, file };
  Kind kind;
  std::string text;           ///< "environment: DEBUG (only in the second, 1 byte)"
  std::string variable = {};  ///< the name of a variable of the environment
};

/// Whether --repeatable sets this variable of the environment.
bool is_repeatable_variable(const std::string& name);

/// A command that can run again.
class Rerun {
 public:
  /// Prepares the command of a result that was measured with --path-hash. Errors: bad_usage if the result does not say
  /// how it was measured; cannot_measure if the directory or the program is missing, or the program has changed.
  /// `values`: "NAME=value" of variables that this process does not have, or has with another value.
  static Result<Rerun> prepare(const result::Stat& stat, const std::string& file, StatReader read,
                               const std::vector<std::string>& values);

  /// Changes what differs to what another command has. Returns whether it can: not for files, nor for a variable whose
  /// value is unknown in one of them, unless it is set in only one.
  bool take(const StartDifference& difference, const Rerun& other);
  /// No address randomisation.
  void fix_addresses() { fixes_addresses_ = true; }
  bool has_fixed_addresses() const { return fixes_addresses_; }
  /// --repeatable.
  void make_repeatable() { options_.conditions.repeatable = true; }
  bool is_repeatable() const { return options_.conditions.repeatable; }

  /// Every run reads this as its standard input; null: that of this process.
  void set_input(std::shared_ptr<linux::ReplayedInput> input) { input_ = std::move(input); }

  /// Runs it once. Its output is discarded. Errors: those of measure::stat().
  Result<result::Run> run(const backend::PathSettings& path, linux::Signals& signals) const;

  /// What differs from the run that the result describes: variables whose values are not known, streams.
  const std::vector<std::string>& deviations() const { return deviations_; }
  /// The program and its arguments.
  const std::vector<std::string>& command() const { return options_.target.command; }

 private:
  std::string variable(const result::EnvironmentVariable& wanted, const std::vector<std::string>& values);
  void take_variable(const std::string& name, const Rerun& other);

  measure::StatOptions options_;
  linux::StartState state_;
  std::vector<std::string> deviations_;
  std::vector<std::string> unknown_;  // names of variables whose values are unknown
  bool fixes_addresses_ = false;
  std::shared_ptr<linux::ReplayedInput> input_;
};

}  // namespace tally::why
