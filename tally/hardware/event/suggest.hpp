// Suggests names for an unknown event.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/hardware/event/name_sources.hpp"

namespace tally::event {

/// A bad_usage error with the most similar names of all sources. Cost: some ten thousand comparisons.
Error unknown_event(std::string_view text, const Sources& sources);

}  // namespace tally::event
