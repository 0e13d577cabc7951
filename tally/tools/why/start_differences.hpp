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

}  // namespace tally::why
