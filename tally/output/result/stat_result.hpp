// The result of `tally stat`, as plain data: measuring fills it, the formats print it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tally/core/base/units.hpp"
#include "tally/core/count/count.hpp"
#include "tally/core/count/event_name.hpp"
#include "tally/core/count/statistics.hpp"
#include "tally/output/result/path.hpp"
#include "tally/output/result/provenance.hpp"
#include "tally/output/result/read_source.hpp"
#include "tally/output/result/regions_result.hpp"
#include "tally/output/result/roofline_result.hpp"

namespace tally::result {

/// Why the counts of an interrupted run are partial.
inline constexpr const char* interrupted = "interrupted before the end";

/// The count of one event.
struct EventCount {
  std::string event;  ///< as requested
  EventName name;     ///< what was counted, and in which mode
  Unit unit = Unit::events;
  Count count;
  std::string repeats = {};  ///< how repeatable such a count of a PMU is, the name of an event::Class; empty if unknown
  bool operator==(const EventCount&) const = default;
};

/// Counts of an interval of time.
struct Interval {
  int run = 1;         ///< number of the run, from 1
  Nanoseconds end{0};  ///< since the beginning of the run
  std::vector<EventCount> counts;
  bool operator==(const Interval&) const = default;
};

/// How processors are grouped for counting.
enum class PartOf { core, socket };

/// A group of processors, and its counts.
struct Part {
  std::string name;  ///< "S0-C1", "S0"
  std::string cpus;  ///< its processors that were counted, as a list: "0,4"
  std::vector<EventCount> counts;
  bool operator==(const Part&) const = default;
};

/// How a process ended.
enum class End {
  exited,     ///< ended by itself; the code is its exit code
  signalled,  ///< killed; the code is the signal's number
  executed,   ///< replaced by another program (exec): see the next image
  running,    ///< still alive when counting ended
  unknown,    ///< unknown: its end was not observed
};

/// One thread of a process.
struct Thread {
  std::int64_t tid = 0;
  std::string name;
  std::vector<EventCount> counts;
  /// If there are very many threads: earlier threads whose counts are included in these.
  std::int64_t before = 0;
  bool operator==(const Thread&) const = default;
};

/// One program that a process executed: a process that calls exec appears once for each of its images.
struct Process {
  std::int64_t pid = 0;
  std::int64_t parent_pid = 0;
  int image = 0;        ///< 0 for the first program of the process, one more after every exec
  std::string command;  ///< the program's name or path
  End end = End::unknown;
  int end_code = 0;  ///< exit code or signal number
  std::vector<EventCount> counts;
  std::vector<Thread> threads;
  /// Instructions that the engine could not copy and executed one at a time; empty if no engine counted.
  std::optional<std::int64_t> single_stepped = {};
  std::optional<Nanoseconds> native_from = {};  ///< processor time at which it continued natively, without counting
  bool operator==(const Process&) const = default;
};

/// A value computed from several counts.
struct Metric {
  std::string name;     ///< "branches/instructions", "IPC", "IPC:k"
  std::string formula;  ///< with full names: "instructions:u / cycles:u"
  std::string unit;     ///< "share" (of 1), "GHz", "per 1,000 instructions"; empty for plain numbers
  EventName row_event;  ///< the event in whose row it is printed; may be empty
  EventName per;        ///< the event that `row_event` is compared with; empty for other metrics
  bool asked = false;   ///< requested by the user; false if it is included because its events are
  Ratio ratio;          ///< with several runs the median
  std::vector<std::optional<double>> runs;  ///< with several runs: the value of each
  std::optional<RatioSummary> summary;      ///< with several runs
  bool operator==(const Metric&) const = default;
};

/// One execution of the command.
struct Run {
  std::optional<int> exit_code;               ///< as in a shell: 128 + signal for a killed program; empty while it runs
  std::optional<int> signal;                  ///< that killed the program
  bool complete = true;                       ///< the program ended by itself, without an interruption
  std::optional<std::int64_t> process_count;  ///< processes of the run; empty if they are counted together
  std::optional<std::int64_t> thread_count;   ///< their threads, including those that have ended
  std::vector<EventCount> counts;
  std::vector<Process> processes;
  std::vector<Interval> intervals = {};             ///< if requested
  std::vector<Part> parts = {};                     ///< groups of processors, if requested
  std::vector<ProgramRegions> regions = {};         ///< the programs' own regions, in the order of the programs' starts
  std::optional<std::int64_t> single_stepped = {};  ///< in all processes
  std::optional<std::vector<ReadSource>> nondeterminism = {};  ///< what the programs read that may make runs differ
  std::vector<ThreadPath> paths = {};                          ///< with --path-hash: one for each thread
  bool operator==(const Run&) const = default;
};

/// One row of the result, over all runs.
struct Event {
  EventCount total;                ///< the count; with several runs their median (rounded down)
  std::optional<Summary> summary;  ///< with several runs
  bool operator==(const Event&) const = default;
};

/// Instructions of a feature that the CPU model lacks (--cpu-model). A program that executes them did not ask.
struct UnaskedCode {
  std::string feature;        ///< as in /proc/cpuinfo
  std::string instruction;    ///< the first one that the program executed: its mnemonic
  std::string file;           ///< that contains it; empty: code without a file
  std::uint64_t address = 0;  ///< in the file as the linker laid it out; without a file, in memory
  std::string function = {};  ///< empty: unknown
  std::int64_t count = 0;     ///< executions of all instructions of the feature in this file
  bool operator==(const UnaskedCode&) const = default;
};

/// The machine on which it was measured, and what was started there. Empty values are unknown.
struct Environment {
  std::string cpu;
  std::string architecture;
  std::string kernel;
  std::string microcode;
  std::optional<bool> hypervisor;
  std::optional<std::int64_t> perf_event_paranoid;
  std::string governor;
  std::vector<std::string> pmus;  ///< names of the processor's PMUs that the kernel supports
  std::string tally_version;
  Provenance provenance = {};
  bool operator==(const Environment&) const = default;
};

/// The comparison of a result with a stored one: `tally stat --baseline`.
struct BaselineVerdict {
  /// One gate.
  struct Gate {
    std::string limit;    ///< as it was given: "instructions=1%"
    bool is_hard = true;  ///< false for --warn-above
    std::string state;    ///< "passed", "failed", "undecided"
    std::string text;     ///< one sentence
    bool operator==(const Gate&) const = default;
  };
  std::string baseline;  ///< the file of the stored result
  std::string state;     ///< "passed", "failed", "undecided", "not comparable", "usage"
  std::string text;      ///< the verdict in one line
  std::vector<Gate> gates;
  bool operator==(const BaselineVerdict&) const = default;
};

/// How many instructions of each kind were executed.
struct InstructionMix {
  struct Share {
    std::string name;
    std::int64_t count = 0;
    bool operator==(const Share&) const = default;
  };
  std::int64_t instructions = 0;
  /// By falling counts. The sum of all categories is `instructions` without `unknown`, and so is that
  /// of all widths.
  std::vector<Share> categories, widths, names;
  std::int64_t unknown = 0;                        ///< instructions that are in none of the lists
  std::int64_t vector = 0, fp = 0, fp_vector = 0;  ///< with packed vector registers; floating-point arithmetic; both
  std::vector<Share> loads = {}, stores = {};      ///< accesses by their size, without those of repeated strings
  bool operator==(const InstructionMix&) const = default;
};

/// The whole result.
struct Stat {
  std::vector<std::string> command;  ///< empty if there was none: see target
  std::string target = {};           ///< what was counted instead of a command, in words
  std::optional<int> exit_code;      ///< of the first run that did not end with 0, else 0
  std::optional<int> signal;         ///< that killed the program in that run
  std::string backend;
  Environment environment;
  int runs_asked = 1;
  bool of_parts = false;                  ///< code regions were requested: functions, addresses, traps
  bool waited_for_all = false;            ///< runs last until every descendant has ended
  std::optional<int> processor;           ///< the only processor that the program was allowed to use
  std::string cpu_model = {};             ///< the processor that programs saw (--cpu-model); empty: the real one
  std::string clock = {};                 ///< "counted" if programs read such a clock (--clock); empty: the real one
  std::string program_environment = {};   ///< --environment if it was fixed; empty: tally's own
  std::vector<UnaskedCode> unasked = {};  ///< of the first run that executed any
  std::optional<StartConditions> start = {};          ///< with --path-hash
  std::string machine_model = {};                     ///< the machine that --model selected; empty: none
  std::vector<std::vector<std::string>> passes = {};  ///< full names of the events of each pass, if a run has several
  std::vector<Run> runs;
  std::vector<Event> events;
  std::vector<Metric> metrics;
  std::vector<std::string> notices;          ///< notices for the user about this measurement
  std::string failure = {};                  ///< why tally itself ended the program; one of the notices
  std::optional<int> interrupted_by;         ///< the signal that tally received
  bool incomplete = false;                   ///< requested results are missing
  std::optional<BaselineVerdict> gate = {};  ///< with --baseline
  std::optional<InstructionMix> mix = {};    ///< of the first run, if requested
  std::optional<Roofline> roofline = {};     ///< if requested
  std::string own_counters = {};             ///< what counters that programs opened lacked; one of the notices
  bool operator==(const Stat&) const = default;
};

}  // namespace tally::result
