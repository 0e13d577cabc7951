// Checks the events and gates of a suite before any of its programs runs.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "programs/results/bench_suite.hpp"
#include "programs/results/result_commands.hpp"
#include "tally/core/base/result.hpp"

namespace tally::results {

/// Checks options of `tally stat`. Errors: bad_usage.
using OptionCheck = std::function<Result<void>(const std::vector<std::string>& options)>;

/// Checks that the events exist, that the gates can be parsed, that each benchmark counts the events of its gates, and
/// its settings, by `check_options`. Errors: bad_usage, with all errors of all benchmarks.
Result<void> check_suite(const std::vector<Benchmark>& suite, const OptionCheck& check_options);

/// Whether a benchmark has a limit of growth over several results (GrowthLimit).
bool has_growth_limit(const std::vector<Benchmark>& suite);

}  // namespace tally::results
