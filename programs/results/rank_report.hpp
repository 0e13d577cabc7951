// Compares the results of the ranks of a parallel job.
#pragma once

#include <string>
#include <vector>

#include "programs/results/report_profile.hpp"
#include "programs/results/result_commands.hpp"
#include "tally/tools/report/result_output.hpp"

namespace tally::results {

/// Writes sum, minimum, maximum and imbalance of the results in these files, one file for each rank, as a table, CSV or
/// JSON. Reports errors. Returns tally's exit code. `functions`: which ones of profiles.
int report_ranks(const std::vector<std::string>& files, const ResultOptions& how, const ProfileReport& functions);

}  // namespace tally::results
