// The files in a directory of results of `tally bench`.
#pragma once

#include <string>
#include <vector>

#include "programs/results/bench_suite.hpp"
#include "tally/core/base/result.hpp"
#include "tally/linux/descriptor.hpp"

namespace tally::results {

/// The file of a benchmark's result.
std::string result_in(const std::string& folder, const Benchmark& benchmark);

/// The profile next to the result of several runs.
std::string profile_in(const std::string& folder, const Benchmark& benchmark);

/// The file in a directory of results with the reason why a benchmark has none: it failed, or the suite lacks it.
std::string failure_file(const std::string& folder, const Benchmark& benchmark);

/// Locks a directory of results until the descriptor is closed: one call writes it, and several may compare with it. A
/// writer waits for other calls, which would replace its results. A baseline that is being written is an error:
/// bad_usage. Where the file system has no locks, nothing is locked.
Result<linux::Descriptor> lock_results(const std::string& folder, bool writes);

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
