// --group: events and metrics under one name.
#pragma once

#include <string>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/hardware/event/name_sources.hpp"

namespace tally::cli {

/// Adds the events and metrics of groups to lists of both. A file NAME.txt in the user's directory of groups comes
/// before the group of that name that tally has. Leaves out optional events that `sources` lack, with the metrics that
/// use them, and adds a note; but keeps the first one if it lacks all. Errors: bad_usage.
struct GroupLists {
  std::vector<std::string>& events;
  std::vector<std::string>& metrics;
  std::vector<std::string>& notes;
};
Result<void> add_groups(const std::string& names, const event::Sources& sources, const GroupLists& lists);

/// All groups with their events, for people.
Result<std::string> group_list();

}  // namespace tally::cli
