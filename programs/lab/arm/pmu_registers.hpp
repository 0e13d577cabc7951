// Numbers of the registers of the architecture's PMU (PMUv3) that both the emulated core and its checks interpret.
#pragma once

#include <cstdint>

#include "programs/register/pmu/codec.hpp"

namespace tally::lab::arm {

inline constexpr std::uint64_t pmcr = pmu::system_register(3, 3, 9, 12, 0);
inline constexpr std::uint64_t pmcntenset = pmu::system_register(3, 3, 9, 12, 1);
/// The event of counter 0; those of the others follow.
inline constexpr std::uint64_t first_pmevtyper = pmu::system_register(3, 3, 14, 12, 0);

}  // namespace tally::lab::arm
