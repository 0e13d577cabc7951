// Functions of gates, as `tally stat --function` counts them.
#pragma once

#include <string>
#include <vector>

#include "tally/output/analysis/gates.hpp"
#include "tally/output/result/profile_result.hpp"

namespace tally::results {

/// The options of `tally stat` that count the functions of gates that the profile's program entered, with what they
/// call. A gate of several functions counts each by its whole name. If the program's file has two functions of such a
/// name, none of this gate is counted. Reads the program's files.
std::vector<std::string> function_options(const std::vector<output::Gate>& gates, const result::Profile& profile);

/// A sentence for each gate of a function that the baseline does not have, with similar names. `benchmark`: its name.
std::vector<std::string> missing_functions(const std::vector<output::Gate>& gates, const output::Comparable& baseline,
                                           const std::string& benchmark);

}  // namespace tally::results
