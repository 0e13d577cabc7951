// Benchmarks of a framework: the key `framework` of a suite. The program lists them, and each is counted by itself.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "programs/results/bench_suite.hpp"
#include "programs/results/result_commands.hpp"
#include "tally/core/base/result.hpp"
#include "tally/output/result/stat_result.hpp"

namespace tally::results {

/// A library for benchmarks, whose programs have many of them, and repeat each in a timed loop.
struct Framework {
  std::string_view name;
  std::string_view list_argument;         ///< the program prints the names of its benchmarks, one each line
  std::string_view loop_begin, loop_end;  ///< functions that are called before and after the timed loop
  std::string_view no_match;              ///< the beginning of what it prints instead if the command selects none
};

/// The number of iterations of the counts.
inline constexpr std::int64_t counted_iterations = 1000;

/// Null if no framework has this name.
const Framework* framework_named(std::string_view name);

/// "google-benchmark": all names.
std::string framework_names();

/// Replaces each benchmark with a framework by those that its program lists, with names such as ENTRY.BENCHMARK. Runs
/// the programs in their directories, which are relative to `folder`. Errors: bad_usage if a program lists none.
Result<std::vector<Benchmark>> list_benchmarks(std::vector<Benchmark> suite, const std::string& folder);

/// The options of `tally stat` that count the timed loop.
std::vector<std::string> loop_options(const Benchmark& benchmark);

/// The arguments with which the program runs this benchmark alone, and writes the number of iterations to `file`.
std::vector<std::string> loop_arguments(const Benchmark& benchmark, const std::string& file);

/// Replaces the counts of a run by those of 1,000 iterations of the timed loop. `iterations`: the text of the file that
/// the program wrote. Errors: cannot_measure, with the framework's reason if it has one.
Result<void> keep_iterations(result::Stat& stat, const Benchmark& benchmark, std::string_view iterations);

}  // namespace tally::results
