// Checks the events and gates of a suite before any of its programs runs.
#pragma once

#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/tools/comparison/bench_suite.hpp"

namespace tally::comparison {

/// Checks that the events exist, that the gates can be parsed, and that each benchmark counts the events of its gates.
/// Errors: bad_usage, with all errors of all benchmarks.
Result<void> check_suite(const std::vector<Benchmark>& suite);

}  // namespace tally::comparison
