// One execution under the engine: from the start of the command's process to its end.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "tally/counting/backend/backend.hpp"
#include "tally/counting/backend/engine/count/own_faults.hpp"
#include "tally/counting/backend/engine/job.hpp"
#include "tally/counting/backend/engine/kept_files.hpp"
#include "tally/counting/backend/software.hpp"
#include "tally/engine/channel/channel.hpp"
#include "tally/linux/files/memory_file.hpp"

namespace tally::backend::engine {

/// The memory file that engines count in, and the command's view of it.
struct Channel {
  linux::Descriptor file;
  linux::Mapping mapping;
  channel::Records records;

  /// A new one. Errors: cannot_measure.
  static Result<Channel> make();
};

/// How the started process ended, and what happened on the way.
struct Execution {
  int wait_status = 0;
  bool ended = true;
  bool all_ended = true;  ///< false: descendants were to be waited for, and tally gave up
  RunStatistics statistics;
  FaultPlaces faults = {};    ///< of the events of page faults that were asked for
  Nanoseconds lasted{0};      ///< from the start until nothing is counted any more
  std::string settings;       ///< settings_in() before the start
  KeptFiles kept_files = {};  ///< that code was mapped from
  pid_t pid = 0;
  std::uint32_t injected = 0;       ///< programs that the engine was mapped into
  std::set<pid_t> other_pids = {};  ///< of processes of other PID namespaces, their numbers there
  std::vector<std::string> native;  ///< programs that ran natively, each with the reason
  std::string failure;              ///< what is said of an engine that failed, or empty
  bool began = true;                ///< false: it ended before counting was to begin
  std::vector<result::Interval> intervals = {};
  std::uint64_t windows_lost = 0;                          ///< rows that waited in a file that failed
  std::uint64_t windows_started = 0, windows_stopped = 0;  ///< threads whose windows did so at an address
};

struct Modelling;
struct Window;
class Marker;

/// Executes the command under the engine `image` (its path). `asked`: what is simulated, and the marks, which `marker`
/// finds. The rows of windows are handed on meanwhile. Where the job is timed, `window` and Execution::intervals
/// say what came of that. Errors: not_found, not_executable, cannot_measure.
Result<Execution> execute(const Job& job, const std::string& image, Channel& shared, const channel::Settings& asked,
                          const Modelling& modelling, Marker& marker, Window& window);

}  // namespace tally::backend::engine
