// What may have been meant by a name that nobody knows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/hardware/event/sources.hpp"

namespace tally::event {

/// bad_usage, with the names of all sources that are nearest. Cost: some ten thousand comparisons.
Error unknown_event(std::string_view text, const Sources& sources);

}  // namespace tally::event
