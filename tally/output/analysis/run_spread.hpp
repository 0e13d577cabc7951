// `tally profile -r N`: how the counts of functions differ between runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tally/output/result/profile_result.hpp"

namespace tally::output {

/// Sets the lowest and highest counts of the functions that differ in other runs of the program, together with those of
/// their clones, unless `whole_names`. Others of the same name and file are added to them.
void add_spread(result::Profile& profile, const std::vector<result::Profile>& others, bool whole_names);

/// "+20 %": how much more the highest count of an event is than the lowest; empty if runs do not differ.
std::string spread_text(const result::ProfileFunction& function, std::size_t event);

/// One sentence about the runs; empty for a single one.
std::string runs_line(const result::Profile& profile);

}  // namespace tally::output
