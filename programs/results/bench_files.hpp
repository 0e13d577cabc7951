// The files in a directory of results of `tally bench`.
#pragma once

#include <string>
#include <vector>

#include "programs/results/bench_suite.hpp"
#include "tally/core/base/result.hpp"

namespace tally::results {

/// The file of a benchmark's result.
std::string result_in(const std::string& folder, const Benchmark& benchmark);

/// The profile next to the result of several runs.
std::string profile_in(const std::string& folder, const Benchmark& benchmark);

/// The file in a directory of results with the reason why a benchmark has none: it failed, or the suite lacks it.
std::string failure_file(const std::string& folder, const Benchmark& benchmark);

/// Removes what earlier calls left of a benchmark, which must not pass for a result of this call. Errors: cannot_write.
Result<void> remove_results(const std::string& folder, const Benchmark& benchmark);

/// The benchmarks of the baseline that are not in the suite, in order of their names.
std::vector<std::string> only_in_baseline(const std::string& folder, const std::vector<Benchmark>& suite);

/// Writes the list of benchmarks that a directory has results of when this call ends. `adds`: to those of earlier
/// calls. Errors: cannot_write.
Result<void> write_list(const std::string& folder, const std::vector<Benchmark>& suite, bool adds);

/// Whether a call that writes the directory counts, or counted, this benchmark. Without a list: false.
bool is_listed(const std::string& folder, const Benchmark& benchmark);

}  // namespace tally::results
