// Profiles of emulated Intel processors: their CPUID, and the choices where sources disagree.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "programs/cpuid/cpuid.hpp"
#include "programs/register/pmu/codec.hpp"

namespace tally::pmu::emulated {

/// How a full-width counter handles written bits beyond its width.
enum class WideWrite {
  faults,     ///< #GP(0): the SDM calls them reserved
  truncates,  ///< drops them, as KVM does
};

/// A processor with Intel's architectural performance monitoring.
struct Profile {
  std::string_view name;                      ///< "haswell-v3": the argument of --model
  std::string_view title;                     ///< a one-line description
  int version = 3;                            ///< of architectural performance monitoring
  int counters = 4;                           ///< general-purpose
  int width = 48;                             ///< bits of each counter
  std::uint32_t fixed = 0b111;                ///< bit i: fixed counter i exists
  int announced_events = 7;                   ///< CPUID.0AH:EAX[31:24]
  std::uint32_t unavailable_events = 0;       ///< CPUID.0AH:EBX: bit n: event n is not available
  bool any_thread = true;                     ///< version 3 or 4, and not deprecated
  std::optional<std::uint64_t> capabilities;  ///< IA32_PERF_CAPABILITIES; nothing: no PDCM, so reading it faults
  bool pebs = false;                          ///< PEBS of the general-purpose counters, and the DS area
  WideWrite fixed_write = WideWrite::faults;  ///< IA32_FIXED_CTRn
  int in_use_interrupt_bit = 63;              ///< of IA32_PERF_GLOBAL_INUSE
  std::uint32_t signature = 0;                ///< CPUID.01H:EAX: family, model, stepping

  bool has_fixed(int index) const { return index >= 0 && index < 32 && (fixed >> index & 1) != 0; }
  int pebs_format() const { return static_cast<int>(capabilities.value_or(0) >> 8 & 0xF); }
  bool has_capability(int bit) const { return capabilities && (*capabilities >> bit & 1) != 0; }
};

/// All profiles, the default first.
std::span<const Profile> profiles();

/// Finds a profile by name; null if unknown.
const Profile* profile_of(std::string_view name);

/// CPUID leaf 0AH of this processor.
CpuidLeaf perfmon_leaf(const Profile& profile);

/// Whether it has the feature that a field or register needs; `index`: the counter, if the feature is a counter.
bool has(const Profile& profile, Feature feature, int index);

/// The bits of a register that exist on this processor. Others are reserved unless the register says otherwise.
std::uint64_t existing_bits(const Profile& profile, const Register& reg);

/// Whether the processor has this register. RDMSR of a missing one raises #GP(0).
bool exists(const Profile& profile, const RegisterInstance& place);

/// A choice where sources disagree or leave it to an emulator, with its source.
struct Choice {
  std::string_view item;
  std::string_view chosen;
  std::string_view instead_of;
  Source source;
};
std::span<const Choice> choices();

}  // namespace tally::pmu::emulated
