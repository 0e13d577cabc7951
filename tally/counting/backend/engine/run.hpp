// Runs a command once under the engine, from the start of its process to its end.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "tally/counting/backend/backend.hpp"
#include "tally/counting/backend/engine/count/own_faults.hpp"
#include "tally/counting/backend/engine/kept_files.hpp"
#include "tally/counting/backend/order.hpp"
#include "tally/counting/backend/software.hpp"
#include "tally/engine/channel/channel.hpp"
#include "tally/linux/files/memory_file.hpp"

namespace tally::backend::engine {

/// The shared memory file that engines count in, and the command's mapping of it.
struct Channel {
  linux::Descriptor file;
  linux::Mapping mapping;
  channel::Records records;

  /// Creates a new one. Errors: cannot_measure.
  static Result<Channel> make();
};

/// How the started process ended, and what happened during the run.
struct Execution {
  int wait_status = 0;
  bool ended = true;
  bool all_ended = true;  ///< false: tally stopped waiting for descendants that the order includes
  RunStatistics statistics;
  FaultPlaces faults = {};    ///< for the page-fault events of the order
  Nanoseconds lasted{0};      ///< from the start until counting ended
  std::string settings;       ///< settings_in() before the start
  KeptFiles kept_files = {};  ///< files that code was mapped from
  pid_t pid = 0;
  std::uint32_t injected = 0;                   ///< programs that the engine was mapped into
  std::set<pid_t> other_pids = {};              ///< of processes in other PID namespaces: their IDs there
  std::vector<std::string> command_notes = {};  ///< about commands that were ignored
  std::vector<std::string> native;              ///< programs that ran natively, each with the reason
  std::string failure;                          ///< the message about an engine that failed, or empty
  bool began = true;                            ///< false: it ended before counting was to begin
  std::vector<result::Interval> intervals = {};
  std::uint64_t windows_lost = 0;                          ///< rows that were in a file whose use failed
  std::uint64_t windows_started = 0, windows_stopped = 0;  ///< threads whose windows started or stopped at an address
};

struct Modelling;
struct CountedTime;
class Marker;

/// Runs the command under the engine `image` (its path). `settings`: the models, and the regions' marks, which
/// `marker` finds; adds the rest. Passes the windows to their sink meanwhile. If the order has a timing, `counted_time`
/// and Execution::intervals have the results. Errors: not_found, not_executable, cannot_measure.
Result<Execution> execute(const Order& order, const std::string& image, Channel& shared, channel::Settings& settings,
                          const Modelling& modelling, Marker& marker, CountedTime& counted_time);

}  // namespace tally::backend::engine
