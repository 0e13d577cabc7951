// Which processor is emulated: what its CPUID says, and what was chosen where sources disagree.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "tally/hardware/pmu/codec.hpp"
#include "tally/hardware/pmu/cpuid.hpp"

namespace tally::pmu::emulated {

/// What a full-width counter makes of bits beyond its width.
enum class WideWrite {
  faults,     ///< #GP(0): the SDM calls them reserved
  truncates,  ///< dropped, as KVM does
};

/// A processor with Intel's architectural performance monitoring.
struct Profile {
  std::string_view name;                      ///< "haswell-v3": what --model takes
  std::string_view title;                     ///< what it stands for, in one line
  int version = 3;                            ///< of architectural performance monitoring
  int counters = 4;                           ///< general-purpose
  int width = 48;                             ///< bits of each counter
  std::uint32_t fixed = 0b111;                ///< bit i: fixed counter i exists
  int announced_events = 7;                   ///< CPUID.0AH:EAX[31:24]
  std::uint32_t unavailable_events = 0;       ///< CPUID.0AH:EBX: bit n: event n is not there
  bool any_thread = true;                     ///< version 3 or 4, and not deprecated
  std::optional<std::uint64_t> capabilities;  ///< IA32_PERF_CAPABILITIES; nothing: no PDCM, reading it faults
  WideWrite fixed_write = WideWrite::faults;  ///< IA32_FIXED_CTRn
  int in_use_interrupt_bit = 63;              ///< of IA32_PERF_GLOBAL_INUSE
  std::uint32_t signature = 0;                ///< CPUID.01H:EAX: family, model, stepping

  bool has_fixed(int index) const { return index >= 0 && index < 32 && (fixed >> index & 1) != 0; }
  bool has_capability(int bit) const { return capabilities && (*capabilities >> bit & 1) != 0; }
};

/// All of them, the usual one first.
std::span<const Profile> profiles();

/// The profile of this name; null for another word.
const Profile* profile_of(std::string_view name);

/// What CPUID says in leaf 0AH on this processor.
CpuidLeaf perfmon_leaf(const Profile& profile);

/// Whether it has what a field or register needs; `index` is that of a counter, where the feature is one.
bool has(const Profile& profile, Feature feature, int index);

/// The bits of a register that exist on this processor. The others are reserved where the register says so.
std::uint64_t existing_bits(const Profile& profile, const Register& reg);

/// Whether the processor has this register at all: RDMSR of another one raises #GP(0).
bool exists(const Profile& profile, const Place& place);

/// Where sources disagree, or where an emulator must decide: what was chosen, and on whose word.
struct Choice {
  std::string_view item;
  std::string_view chosen;
  std::string_view instead_of;
  Source source;
};
std::span<const Choice> choices();

}  // namespace tally::pmu::emulated
