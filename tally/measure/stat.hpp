// Counting a whole command, once or several times, over any backend.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tally/backend/backend.hpp"
#include "tally/base/result.hpp"
#include "tally/count/metric.hpp"
#include "tally/linux/files/input.hpp"
#include "tally/linux/machine/machine.hpp"
#include "tally/linux/process/signals.hpp"
#include "tally/result/stat.hpp"

namespace tally::measure {

/// What `tally stat` is asked to do.
struct StatOptions {
  std::vector<std::string> command;
  std::vector<event::Event> events;
  bool usual_events = false;              ///< nobody asked for those
  std::vector<MetricChoice> metrics;      ///< asked for; those that come with the events need not be
  linux::Input input;                     ///< standard input, as the first run finds it
  int runs = 1;                           ///< how often the command is executed, one after the other
  bool keep_going = false;                ///< further runs after one that did not end with exit code 0
  bool wait_all = false;                  ///< wait for every descendant, not for the started process alone
  bool repeatable = false;                ///< as little as possible that differs from run to run
  std::optional<int> processor = {};      ///< the only one that the command may run on
  std::vector<event::Pass> passes = {};   ///< of the plan, where one run takes several executions
  bool make_room = false;                 ///< as Passes::make_room says
  bool multiplex = false;                 ///< as Request::multiplex says
  bool processes = false;                 ///< each process's (or thread's) own counts are wanted
  backend::Attachment attachment = {};    ///< whose events are counted instead of the command's
  backend::Timing timing = {};            ///< when
  std::vector<backend::Mark> marks = {};  ///< functions and points, counted each time they are passed
  bool rdpmc = false;                     ///< the instruction reads the counts
  std::function<void(const result::Interval&)> on_interval = {};  ///< called at the end of each
  bool corrections = false;  ///< count interrupts too, and show what faults and interrupts add
  int block_size = 0;        ///< handed to the backend
  int cache_limit = 0;       ///< the same
  int hot_from = 0;          ///< the same
};

/// Runs the command and counts. A program that fails, or an interrupt, does not make this fail: the result says so, and
/// holds what was counted until then. Errors: those of Backend::run() in the first run; in a later run the result is
/// incomplete instead and a notice tells why.
Result<result::Stat> stat(backend::Backend& backend, const StatOptions& options, linux::Signals& signals);

/// Where it was measured, as the result tells it.
result::Environment environment(const linux::Machine& machine);

}  // namespace tally::measure
