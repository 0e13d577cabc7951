// In what two stored runs were started differently.
#pragma once

#include <string>
#include <vector>

#include "tally/output/result/stat_result.hpp"
#include "tally/tools/why/rerun.hpp"

namespace tally::why {

/// Returns what differs: variables of the environment, options of tally, arguments, CPU model, directory, and files in
/// the arguments that were changed after the first measurement.
std::vector<StartDifference> start_differences(const result::Stat& before, const result::Stat& after, StatReader read);

/// Lines about everything that two results say differs, without a run: also what they read, and their processors.
std::vector<std::string> stored_lines(const result::Stat& before, const result::Stat& after,
                                      const std::vector<StartDifference>& differences);

}  // namespace tally::why
