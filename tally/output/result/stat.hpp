// What `tally stat` measured, as plain data: measuring fills it, reporting prints it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tally/core/base/units.hpp"
#include "tally/core/count/count.hpp"
#include "tally/core/count/event_name.hpp"
#include "tally/core/count/statistics.hpp"
#include "tally/output/result/regions.hpp"

namespace tally::result {

/// Why the counts of a run that was interrupted are partial.
inline constexpr const char* interrupted = "interrupted before the end";

/// One event's count.
struct EventCount {
  std::string event;  ///< as it was asked for
  EventName name;     ///< what was counted, and in which mode
  Unit unit = Unit::events;
  Count count;
  std::string repeats = {};  ///< how far such a count of a PMU repeats, event::Class by name; empty where none was read
  bool operator==(const EventCount&) const = default;
};

/// What was counted in a stretch of time.
struct Interval {
  int run = 1;         ///< of which run, from 1
  Nanoseconds end{0};  ///< when it ended, from the beginning of the run
  std::vector<EventCount> counts;
  bool operator==(const Interval&) const = default;
};

/// What processors are counted together by.
enum class PartOf { core, socket };

/// A part of the machine, and what was counted on it.
struct Part {
  std::string name;  ///< "S0-C1", "S0"
  std::string cpus;  ///< its processors that were counted, as a list: "0,4"
  std::vector<EventCount> counts;
  bool operator==(const Part&) const = default;
};

/// How a process was left.
enum class End {
  exited,     ///< ended by itself; the code is its exit code
  signalled,  ///< killed; the code is the signal's number
  executed,   ///< went on as another program of the same process: the next image
  running,    ///< still alive when counting ended
  unknown,    ///< nobody saw its end
};

/// One thread of a process.
struct Thread {
  std::int64_t tid = 0;
  std::string name;
  std::vector<EventCount> counts;
  std::int64_t before =
      0;  ///< threads that had ended before it and whose counts are in these: where there are very many
  bool operator==(const Thread&) const = default;
};

/// One program that a process executed: a process that calls exec appears once for each of its images.
struct Process {
  std::int64_t pid = 0;
  std::int64_t parent_pid = 0;
  int image = 0;        ///< 0 for what the process started as, one more for every exec
  std::string command;  ///< the program's name or path
  End end = End::unknown;
  int end_code = 0;  ///< exit code or signal number
  std::vector<EventCount> counts;
  std::vector<Thread> threads;
  /// Instructions that the engine could not copy and executed one at a time; nothing where no engine counted.
  std::optional<std::int64_t> single_stepped = {};
  std::optional<Nanoseconds> native_from = {};  ///< processor time that it had taken when it went on uncounted
  bool operator==(const Process&) const = default;
};

/// What several events of this result say together.
struct Metric {
  std::string name;     ///< "branches/instructions", "IPC", "IPC:k"
  std::string formula;  ///< in full names: "instructions:u / cycles:u"
  std::string unit;     ///< "share" (of 1), "GHz", "per 1,000 instructions"; empty for a plain number
  EventName beside;     ///< the event in whose row it is; or empty
  EventName per;        ///< the event that `beside` is compared with; empty for other metrics
  bool asked = false;   ///< by the user; else it is there because its events are
  Ratio ratio;          ///< with several runs the median of theirs
  std::vector<std::optional<double>> runs;  ///< with several runs: of each
  std::optional<RatioSummary> summary;      ///< with several runs
  bool operator==(const Metric&) const = default;
};

/// One execution of the command.
struct Run {
  std::optional<int> exit_code;  ///< as a shell gives it: 128 + signal for one that was killed; nothing while it lives
  std::optional<int> signal;     ///< that killed the program
  bool complete = true;          ///< the program ran to its end and nobody interrupted it
  std::optional<std::int64_t> process_count;  ///< processes of the run; nothing where they cannot be told apart
  std::optional<std::int64_t> thread_count;   ///< their threads, ended ones too
  std::vector<EventCount> counts;
  std::vector<Process> processes;
  std::vector<Interval> intervals = {};      ///< where they were asked for
  std::vector<Part> parts = {};              ///< of the machine, where they were asked for
  std::vector<ProgramRegions> regions = {};  ///< what programs counted of their own code, in the order of their starts
  std::optional<std::int64_t> single_stepped = {};  ///< of all processes
  bool operator==(const Run&) const = default;
};

/// One row of the result: over all runs.
struct Event {
  EventCount total;                ///< the count; with several runs their median (rounded down)
  std::optional<Summary> summary;  ///< with several runs
  bool operator==(const Event&) const = default;
};

/// Where it was measured. Empty where the system does not say.
struct Environment {
  std::string cpu;
  std::string architecture;
  std::string kernel;
  std::string microcode;
  std::optional<bool> hypervisor;
  std::optional<std::int64_t> perf_event_paranoid;
  std::string governor;
  std::vector<std::string> pmus;  ///< names of the processor's counter units that the kernel offers
  std::string tally_version;
  bool operator==(const Environment&) const = default;
};

/// The whole result.
struct Stat {
  std::vector<std::string> command;  ///< empty where there was none: see target
  std::string target = {};           ///< whose events were counted, in words, where they are not the command's
  std::optional<int> exit_code;      ///< of the first run that did not end with 0, else 0
  std::optional<int> signal;         ///< that killed the program in that run
  std::string backend;
  Environment environment;
  int runs_asked = 1;
  bool of_parts = false;                              ///< parts of programs were asked for: functions, points, traps
  bool waited_for_all = false;                        ///< runs last until every descendant has ended
  std::optional<int> processor;                       ///< the only one that the program was started on
  std::vector<std::vector<std::string>> passes = {};  ///< full names of the events that were counted in one execution,
                                                      ///< where a run is made of several
  std::vector<Run> runs;
  std::vector<Event> events;
  std::vector<Metric> metrics;
  std::vector<std::string> notices;   ///< what the user should know about this measurement
  std::optional<int> interrupted_by;  ///< the signal that tally itself received
  bool incomplete = false;            ///< something that was asked for is not in here
  bool operator==(const Stat&) const = default;
};

}  // namespace tally::result
