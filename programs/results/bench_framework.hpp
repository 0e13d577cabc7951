// A framework of benchmarks: how its programs list and run them, and which of a run's counts are those of a benchmark.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "programs/results/result_commands.hpp"
#include "tally/core/base/result.hpp"
#include "tally/core/count/region.hpp"

namespace tally::results {

/// The timed loop of a benchmark in a run.
struct TimedLoop {
  const RegionCounts* counts = nullptr;  ///< null: the run did not reach it
  std::int64_t iterations = 1;           ///< of the largest entry
  /// Of all entries, if a constant for each entry and the same count for each iteration may explain the counts; else 0.
  std::int64_t all_iterations = 0;
  bool has_equal_entries = false;  ///< each is one call: the smallest counts
  bool has_children = false;       ///< it started processes
};

/// How long the timed loop of a framework with `measures_differences` runs, and how often in its full length.
struct LoopLength {
  double seconds = 0.001;
  int repetitions = 1;
};

/// What a program of such a framework reports about its loop.
struct LoopReport {
  std::int64_t iterations = 0;      ///< of one repetition, in all threads
  std::int64_t all_iterations = 0;  ///< of all repetitions
  int repetitions = 1, threads = 1;
  double first_seconds = 0;  ///< of the first repetition
};

/// A run of one benchmark.
struct BenchmarkRun {
  const std::vector<RegionResult>& regions;  ///< of `stat_options`
  std::string_view report;                   ///< the text of the file that the program wrote
  std::string_view listed;                   ///< the benchmark's name in the framework
};

/// What a framework may read itself (result::ReadSource): only another run shows whether the benchmark reads it, too.
struct OwnSource {
  std::string_view source;
  std::int64_t certain = 0;  ///< up to this number, only the framework read it
};

struct Framework {
  std::string_view name = {};                     ///< of the key `framework`
  std::string_view counted = "1,000 iterations";  ///< what a count is of
  std::int64_t scale = 1000;                      ///< that number
  std::string_view clock = "counted";             ///< for --clock, unless the suite has one; empty: the default
  std::int64_t own_processes = 0;                 ///< the most that the framework starts, of one thread each
  std::vector<OwnSource> own_sources = {};
  std::string_view ambiguous = {};    ///< an error of timed_loop(): the clock chose equal iterations for two benchmarks
  bool measures_differences = false;  ///< a count is the difference between runs: read_report(), no timed_loop()

  virtual ~Framework() = default;
  /// With these arguments a program prints its benchmarks.
  virtual std::vector<std::string> list_arguments() const = 0;
  /// Why the program cannot be counted, by that output; an error without a message if it can.
  virtual Error why_unusable(const std::string&) const { return {}; }
  /// The benchmarks in that output.
  virtual std::vector<std::string> benchmarks_in(const std::string& output) const = 0;
  /// The options of `tally stat` that count the timed loop of a program, whose file is empty if it is not found.
  /// Several lists: the program may need each of them. Errors: cannot_measure.
  virtual Result<std::vector<std::vector<std::string>>> stat_options(const std::string& program) const = 0;
  /// The arguments with which the program runs a benchmark alone, and writes to the file `report`; empty: none.
  virtual std::vector<std::string> run_arguments(const std::string& listed, const std::string& report,
                                                 const LoopLength& length) const = 0;
  /// Errors: cannot_measure, with the framework's reason if it has one.
  virtual Result<TimedLoop> timed_loop(const BenchmarkRun&) const { return TimedLoop{}; }
  virtual Result<LoopReport> read_report(std::string_view) const { return LoopReport{}; }
};

/// One function for each framework, in a file of its name (framework_NAME.cpp).
const Framework& google_benchmark();
const Framework& criterion();
const Framework& catch2();
const Framework& pytest();

// What several frameworks need.

/// A regular expression that only this text matches.
std::string exact_pattern(std::string_view text);

/// The demangled names of the program's functions; empty if its file cannot be read.
std::vector<std::string> functions_of(const std::string& program);

/// The first region with entries; null if there is none.
const RegionCounts* entered_region(const std::vector<RegionResult>& regions);

/// The count of one iteration, if each iteration counts the same, each entry a constant more, and the first entry
/// possibly something more than that; else nothing. Of entries of one iteration each, the smallest, with the constant.
std::optional<std::int64_t> count_of_iteration(const TimedLoop& loop, const RegionEvent& event);

}  // namespace tally::results
