// Rules for common mistakes with Intel's registers.
#pragma once

#include <span>

#include "programs/register/pmu/model.hpp"

namespace tally::pmu::intel {

/// All rules, in the order of their remarks.
std::span<const Rule> rules();

}  // namespace tally::pmu::intel
