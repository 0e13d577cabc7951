// Counting a whole command, once or several times, over any backend.
#pragma once

#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/core/count/metric.hpp"
#include "tally/counting/backend/backend.hpp"
#include "tally/linux/files/input.hpp"
#include "tally/linux/machine/machine.hpp"
#include "tally/linux/process/signals.hpp"
#include "tally/output/result/stat.hpp"

namespace tally::measure {

/// What `tally stat` is asked to do: an order, carried out once or several times. Its `signals` are those of stat().
struct StatOptions : backend::RegionOrder {
  linux::Input input;                    ///< standard input, as the first run finds it
  int runs = 1;                          ///< how often the command is executed, one after the other
  bool keep_going = false;               ///< further runs after one that did not end with exit code 0
  std::vector<event::Pass> passes = {};  ///< of the plan, where one run takes several executions
  bool make_room = false;                ///< as Passes::make_room says
};

/// Runs the command and counts. A program that fails, or an interrupt, does not make this fail: the result says so, and
/// holds what was counted until then. Errors: those of Backend::run() in the first run; in a later run the result is
/// incomplete instead and a notice tells why.
Result<result::Stat> stat(backend::Backend& backend, const StatOptions& options, linux::Signals& signals);

/// Runs the command once, and hands its windows to the order's sink. As stat() otherwise.
Result<result::Stat> sample(backend::Backend& backend, const backend::WindowOrder& order, linux::Signals& signals);

/// Runs the command once. `code`: takes what instructions counted. As stat() otherwise.
Result<result::Stat> profile(backend::Backend& backend, const backend::ProfileOrder& order, result::CodeCounts& code,
                             linux::Signals& signals);

/// Where it was measured, as the result tells it.
result::Environment environment(const linux::Machine& machine);

}  // namespace tally::measure
