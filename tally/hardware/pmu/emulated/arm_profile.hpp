// Which 64-bit Arm core is emulated.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "tally/hardware/pmu/model.hpp"

namespace tally::pmu::emulated {

struct ArmProfile {
  std::string_view name;         ///< "armv8-pmuv3": what --model takes
  std::string_view title;        ///< what it stands for, in one line
  const Model* model = nullptr;  ///< whose registers it has
  int version = 1;               ///< of that model
  int counters = 6;              ///< PMCR_EL0.N; the M1 has its ten
};

/// All of them, the usual one first.
std::span<const ArmProfile> arm_profiles();

/// The profile of this name; null for another word.
const ArmProfile* arm_profile_of(std::string_view name);

/// Names of all profiles, x86 first.
std::vector<std::string_view> profile_names();

}  // namespace tally::pmu::emulated
