// The bits by which CPUID reports features.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "tally/engine/channel/cpu_model_answers.hpp"

namespace tally::cpus {

using channel::Feature;

/// The registers of an answer, in the order of channel::CpuidAnswer.
enum class Register { eax, ebx, ecx, edx };

inline constexpr bool only_speed = true;

struct FeatureBit {
  Feature feature;
  std::string_view name;  ///< as in /proc/cpuinfo, where it differs from the manuals'
  std::uint32_t leaf, subleaf;
  Register in;
  std::uint32_t bit;
  bool speed = false;  ///< programs without it do the same
};

/// All features, sorted by leaf.
std::span<const FeatureBit> feature_bits();

}  // namespace tally::cpus
