// `tally profile -r N`: runs a program several times.
#pragma once

#include <string>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/counting/measure/measure_stat.hpp"
#include "tally/output/result/profile_result.hpp"

namespace tally::why {

/// One run of a profile.
struct ProfiledRun {
  result::Stat stat;
  result::CodeCounts code;
};

/// Checks that a profile can be repeated: of a command, by the engine, with input that each run can read. Errors:
/// bad_usage.
Result<void> check_repeat(const measure::StatOptions& options, const backend::Backend& backend);

/// Profiles the command `options.runs` times. Returns the run with the median of the first event, whose profile `code`
/// gets, with the notices of all; `others` gets the rest. An interrupt ends it with the runs before, or with the first
/// one. Errors: a run fails; a later one is incomplete or ends in another way.
Result<result::Stat> profile_runs(backend::Backend& backend, const measure::StatOptions& options,
                                  result::CodeCounts& code, std::vector<ProfiledRun>& others, linux::Signals& signals);

/// Marks the functions of a profile whose counts differ in other runs (output::add_spread()). Returns a notice of those
/// that only other runs executed, or nothing.
std::string mark_differences(result::Profile& profile, std::vector<ProfiledRun> others);

}  // namespace tally::why
