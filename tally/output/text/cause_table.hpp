// The causes of a profile's cycles, each with the lines that have most of it.
#pragma once

#include <string>

#include "tally/output/result/profile_result.hpp"

namespace tally::output {

/// A row for each cause of cycles, in descending order, with three lines of code; empty unless the profile has causes.
std::string cause_table(const result::Profile& profile, std::size_t terminal);

}  // namespace tally::output
