// What tally can count on a machine.
#pragma once

#include <vector>

#include "programs/doctor/diagnosis.hpp"
#include "programs/doctor/host_facts.hpp"

namespace tally::doctor {

/// What this version of tally can count on this machine, and with which trust; `by_pmu`: a PMU counts. Pure.
std::vector<CountableEvents> countable(const Facts& facts, bool by_pmu);

}  // namespace tally::doctor
