// --group: events and metrics under one name.
#pragma once

#include <string>
#include <vector>

#include "tally/core/base/result.hpp"

namespace tally::cli {

/// Adds the events and metrics of groups to lists of both. A file NAME.txt in the user's directory of groups comes
/// before the group of that name that tally has. Errors: bad_usage.
Result<void> add_groups(const std::string& names, std::vector<std::string>& events, std::vector<std::string>& metrics);

/// All groups with their events, for people.
Result<std::string> group_list();

}  // namespace tally::cli
