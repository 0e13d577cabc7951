// Measures a whole command, once or several times, with any backend.
#pragma once

#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/core/count/metric.hpp"
#include "tally/counting/backend/backend.hpp"
#include "tally/linux/files/input.hpp"
#include "tally/linux/machine/host_machine.hpp"
#include "tally/linux/process/received_signals.hpp"
#include "tally/output/result/stat_result.hpp"

namespace tally::measure {

/// The options of `tally stat`: the order of a count, and how often to run it. Its `signals` are those of stat().
struct StatOptions : backend::Order {
  linux::Input input;                    ///< standard input, as the first run finds it
  int runs = 1;                          ///< number of runs, one after the other
  bool keep_going = false;               ///< continue after a run that did not end with exit code 0
  std::vector<event::Pass> passes = {};  ///< of the plan, if one run takes several executions
  bool make_room = false;                ///< see Passes::make_room
};

/// Runs the command and counts. A program that fails, or an interrupt, is not an error: the result reports it and has
/// the counts so far. Errors: those of Backend::run() in the first run; after an error in a later run the result is
/// incomplete and has a notice.
Result<result::Stat> stat(backend::Backend& backend, const StatOptions& options, linux::Signals& signals);

/// Runs the command once, and passes its windows to the order's sink; otherwise like stat().
Result<result::Stat> sample(backend::Backend& backend, const backend::Order& order, linux::Signals& signals);

/// Runs the command once; otherwise like stat(). `code`: gets the profile.
Result<result::Stat> profile(backend::Backend& backend, const backend::Order& order, result::CodeCounts& code,
                             linux::Signals& signals);

/// Returns the description of the machine for a result.
result::Environment environment(const linux::HostMachine& machine);

}  // namespace tally::measure
