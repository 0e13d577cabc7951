// The benchmarks of `tally bench`: counts them, compares with a baseline, and reports.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "programs/results/bench_suite.hpp"
#include "programs/results/result_commands.hpp"
#include "tally/core/base/result.hpp"
#include "tally/output/kinds/comparison_result.hpp"
#include "tally/output/result/history_result.hpp"

namespace tally::results {

/// Where the results of a suite go, and with what they are compared. Empty: none.
struct BenchRun {
  std::string folder;                              ///< of the suite; benchmarks run in it
  std::string output = "tally-results", baseline;  ///< directories of results
  std::string history, label, undecided = "3";     ///< a file; a text; as GateOptions::undecided
};

/// What became of a benchmark.
struct BenchOutcome {
  /// A count, or a limit of one.
  struct Row {
    std::string event, before, after, change, limit, verdict;
    std::optional<output::ComparedCount> count = {};  ///< the row in numbers
  };
  const Benchmark* benchmark = nullptr;
  int code = 0;  ///< of tally stat, if that failed; else of the comparison
  bool has_run = false;
  std::vector<Row> rows;
  std::string text;                                 ///< what a reader has to know beyond the rows, in one line
  std::string markdown;                             ///< the comparison
  std::map<std::string, std::string> largest = {};  ///< of an event: the function that grew most since the baseline
  std::string growth;                               ///< over the last results of the history, in one line
  bool growth_decides = false;                      ///< a limit of it failed, is undecided, or warns
  bool can_vary = false;     ///< its exact counts may differ from run to run: one run of several threads or processes
  std::string partial = {};  ///< why its counts lack work of processes that were still running; empty: they do not
};

/// Counts a benchmark by `tally stat` or `tally profile`, stores the result, and compares it with the baseline. A
/// benchmark that fails leaves no result. Errors: cannot_write; cannot_measure if it was interrupted.
Result<BenchOutcome> run_benchmark(const Benchmark& benchmark, const BenchRun& run);

/// Of the baseline, before anything runs: gates of functions that it does not have, which may be misspelled or new.
std::vector<std::string> unknown_functions(const Benchmark& benchmark, const BenchRun& run);

/// Adds the growth over the last results of the history: rows of the benchmarks' limits (GrowthLimit), and a
/// line for each limited count that grew or shrank. `undecided`: the exit code of a limit that one run cannot decide.
void add_growth(std::vector<BenchOutcome>& outcomes, const result::History& history, int undecided);

/// The exit code of all: of failed gates, wrong gates, failed programs, undecided gates, in this order.
int exit_code_of(const std::vector<BenchOutcome>& outcomes);

/// The rows of all benchmarks, and of those that are `missing` in the suite. `terminal`: columns; 0: any.
std::string bench_table(const std::vector<BenchOutcome>& outcomes, const std::vector<std::string>& missing,
                        std::size_t terminal);

/// The same, docs/reference/bench.md. `code`: of all.
std::string bench_json(const std::vector<BenchOutcome>& outcomes, const std::vector<std::string>& missing, int code);

/// One comment in Markdown: a table of all rows, those that failed first, and the comparisons of benchmarks that did
/// not pass. At most 60,000 characters, which GitHub accepts.
std::string bench_comment(std::vector<BenchOutcome> outcomes, const std::vector<std::string>& missing);

}  // namespace tally::results
