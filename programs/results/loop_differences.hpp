// Counts of a timed loop as the difference between runs of a program, which differ in how long and how often it runs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "programs/results/bench_framework.hpp"
#include "programs/results/bench_suite.hpp"
#include "tally/core/base/result.hpp"
#include "tally/output/result/stat_result.hpp"

namespace tally::results {

/// One run of the program.
struct LoopSample {
  result::Stat stat;
  LoopReport report;
};

/// Runs the program once.
using RunLoop = std::function<Result<LoopSample>(const LoopLength&)>;

/// The numbers of iterations of which a count is the difference; nothing if it is not.
using LoopIterations = std::optional<std::pair<std::int64_t, std::int64_t>>;

/// Those of a stored result.
LoopIterations iterations_of(const result::Stat& stat);

/// Counts a benchmark of a framework with `measures_differences`. What is executed once, outside of the loop or in its
/// first iteration, is in all runs, so it is in none of their differences. If the program has threads or processes that
/// do not run the loop themselves, the counts are those of all of them. If iterations differ, their numbers
/// are those of `baseline`, or the counts are partial. Errors: cannot_measure, and those of `run`.
Result<result::Stat> count_differences(const Benchmark& benchmark, const LoopIterations& baseline, const RunLoop& run);

}  // namespace tally::results
