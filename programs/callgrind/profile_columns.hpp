// Profiles whose events are sums of other events: those of valgrind's tools, for example.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tally/output/result/profile_result.hpp"

namespace tally::callgrind {

/// An event that is a weighted sum of events of a profile.
struct DerivedEvent {
  std::string name;
  std::vector<std::pair<std::string, int>> terms;  ///< base names of events (EventName::base), and their weights
};

/// Returns the profile with these events instead of its own. A term that is no event of the profile adds nothing. Cost:
/// proportional to rows and calls.
result::Profile with_columns(result::Profile profile, const std::vector<DerivedEvent>& columns);

}  // namespace tally::callgrind
