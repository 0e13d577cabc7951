// Benchmarks of frameworks in a suite: the program lists them, and each is counted by itself.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "programs/results/bench_framework.hpp"
#include "programs/results/bench_suite.hpp"
#include "programs/results/result_commands.hpp"
#include "tally/core/base/result.hpp"
#include "tally/output/result/stat_result.hpp"

namespace tally::results {

/// Null if no framework has this name.
const Framework* framework_named(std::string_view name);

/// "google-benchmark, catch2, …": all names.
std::string framework_names();

/// Replaces each benchmark with a framework by those that its program lists, with names such as ENTRY.BENCHMARK. Runs
/// the programs in their directories, which are relative to `folder`. Errors: bad_usage if a program lists none, or
/// takes longer than its timeout.
Result<std::vector<Benchmark>> list_benchmarks(std::vector<Benchmark> suite, const std::string& folder);

/// The file of the benchmark's standard input: /dev/null without the key `stdin`.
std::string input_of(const Benchmark& benchmark, const std::string& folder);

/// The options of `tally stat` that count the timed loop; several lists if more than one run may be needed, one empty
/// list without a framework. Errors: cannot_measure.
Result<std::vector<std::vector<std::string>>> loop_options(const Benchmark& benchmark, const std::string& folder);

/// The arguments with which the program runs this benchmark alone, and writes its report to `file`.
std::vector<std::string> loop_arguments(const Benchmark& benchmark, const std::string& file, const LoopLength& length);

/// "; its functions: tally profile -- COMMAND", because the counts of a framework's benchmark are of its loop; empty
/// for other benchmarks.
std::string profile_hint(const Benchmark& benchmark, const std::vector<std::string>& command);

/// The regions of a run; empty if it has none.
std::vector<RegionResult> regions_of(const result::Stat& stat);

/// Whether threads or processes that the benchmark started do not run the loop themselves.
bool has_others(const result::Stat& stat, const Framework& framework);

/// Removes everything but the events from the counts of a run.
void keep_events_only(result::Stat& stat, const Benchmark& benchmark, bool is_single_threaded);

/// Sets the events to those of all runs. An event that a run lacks is left out.
void summarize_runs(result::Stat& stat);

/// Replaces the counts of a run by those of the timed loop. `report`: the text of the file that the program wrote.
/// Returns false if the run did not reach the loop. Errors: cannot_measure, with the framework's reason if it has one.
Result<bool> keep_loop(result::Stat& stat, const Benchmark& benchmark, std::string_view report);

}  // namespace tally::results
