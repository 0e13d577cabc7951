// Converts stored results to the formats of `tally stat`, `tally sample` and `tally memory`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "programs/results/result_commands.hpp"
#include "tally/tools/report/result_output.hpp"

namespace tally::results {

/// A paragraph for the help: the formats of each kind of result.
std::string conversion_lines();

/// Writes the results of the files in the format that the options name, else in `usual`. Rows of HPCTool are read as
/// runs, unless tally describes them as windows. Returns the exit code.
int convert(const std::vector<std::string>& files, const ResultOptions& how, const std::string& usual);

}  // namespace tally::results
