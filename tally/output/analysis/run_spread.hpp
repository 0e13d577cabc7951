// `tally profile -r N`: how the counts of functions differ between runs.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "tally/output/result/profile_result.hpp"

namespace tally::output {

/// Sets the lowest and highest counts of the functions that differ in other runs of the program. Others of the same
/// name and file are added to them. Events that other runs lack, and the kernel, do not differ. Returns the functions
/// that only other runs executed.
std::set<std::string> add_spread(result::Profile& profile, const std::vector<result::Profile>& others);

/// "+20 %": how much more the highest count of an event is than the lowest; empty if runs do not differ.
std::string spread_text(const result::ProfileFunction& function, std::size_t event);

/// One sentence about the runs; empty for a single one.
std::string runs_line(const result::Profile& profile);

}  // namespace tally::output
