// What is often got wrong with Intel's registers.
#pragma once

#include <span>

#include "tally/hardware/pmu/model.hpp"

namespace tally::pmu::intel {

/// All rules, in the order in which their remarks are made.
std::span<const Rule> rules();

}  // namespace tally::pmu::intel
