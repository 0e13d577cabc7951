// How often each duration, or each gap, came.
#pragma once

#include <span>
#include <string>

#include "tally/output/result/memory.hpp"

namespace tally::memory {

/// The values in bins of an eighth of an octave; bins without a value are left out, and values that are not above 0.
/// `group` names what it is drawn with.
result::MemoryHistogram histogram_of(std::span<const double> values, std::string name, std::string group,
                                     std::string unit);

}  // namespace tally::memory
