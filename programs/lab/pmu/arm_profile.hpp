// Profiles of emulated 64-bit Arm cores.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "programs/register/pmu/model.hpp"

namespace tally::pmu::emulated {

struct ArmProfile {
  std::string_view name;         ///< "armv8-pmuv3": the argument of --model
  std::string_view title;        ///< a one-line description
  const Model* model = nullptr;  ///< the model of its registers
  int version = 1;               ///< version of that model
  int counters = 6;              ///< PMCR_EL0.N; the M1 has ten of its own
};

/// All profiles, the default first.
std::span<const ArmProfile> arm_profiles();

/// Finds a profile by name; null if unknown.
const ArmProfile* arm_profile_of(std::string_view name);

/// The names of all profiles, x86 first.
std::vector<std::string_view> profile_names();

}  // namespace tally::pmu::emulated
