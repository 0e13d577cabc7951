#include "programs/lab/pmu/arm_profile.hpp"

#include "programs/lab/pmu/core_profile.hpp"

namespace tally::pmu::emulated {
namespace {

constexpr ArmProfile table[] = {
    {"armv8-pmuv3", "Arm PMUv3, 6 event counters of 32 bits, a cycle counter of 64", &arm_model, 1, 6},
    {"apple-m1", "the PMU of Apple's M1: PMC0 to PMC9 of 48 bits", &apple_model, 1, 10},
};

}  // namespace

std::span<const ArmProfile> arm_profiles() { return table; }

const ArmProfile* arm_profile_of(std::string_view name) {
  for (const ArmProfile& one : table) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

std::vector<std::string_view> profile_names() {
  std::vector<std::string_view> names;
  for (const Profile& one : profiles()) names.push_back(one.name);
  for (const ArmProfile& one : table) names.push_back(one.name);
  return names;
}

}  // namespace tally::pmu::emulated
