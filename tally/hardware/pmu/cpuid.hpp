// What CPUID says about a processor and its counters. Only the meaning of the numbers: who executes the instruction
// hands them in, so a dump of another machine is read in the same way.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tally::pmu {

/// The four registers that CPUID fills for a leaf.
struct CpuidLeaf {
  std::uint32_t eax = 0;
  std::uint32_t ebx = 0;
  std::uint32_t ecx = 0;
  std::uint32_t edx = 0;
  bool operator==(const CpuidLeaf&) const = default;
};

/// Gives a leaf and its sub-leaf: of this machine, or of a dump.
using CpuidReader = std::function<CpuidLeaf(std::uint32_t leaf, std::uint32_t subleaf)>;

/// An architectural event as leaf 0AH announces it.
struct ArchitecturalEvent {
  std::string_view name;   ///< "core cycles"
  std::uint8_t event = 0;  ///< event select
  std::uint8_t umask = 0;
  bool available = false;
  bool operator==(const ArchitecturalEvent&) const = default;
};

/// Leaf 0AH: Intel's architectural performance monitoring.
/// Source: Intel SDM vol. 2A, CPUID, leaf 0AH; vol. 3B, "Architectural Performance Monitoring".
struct ArchitecturalPerfmon {
  int version = 0;  ///< 0: there is none, and all below is 0
  int counters = 0;
  int counter_width = 0;             ///< bits
  std::uint32_t fixed_counters = 0;  ///< bit i: fixed counter i exists
  int fixed_width = 0;               ///< bits
  bool any_thread_deprecated = false;
  std::vector<ArchitecturalEvent> events;
  bool operator==(const ArchitecturalPerfmon&) const = default;
};

/// Reads leaf 0AH. A bit of EBX that is set, or beyond the number of bits that EAX declares valid, means that the event
/// is not available. A fixed counter exists where ECX says so or where EDX counts it.
ArchitecturalPerfmon decode_architectural_perfmon(const CpuidLeaf& leaf);

/// A frequency, and which register it was read from.
struct Frequency {
  std::uint64_t hertz = 0;
  std::string source;  ///< "CPUID.16H:EAX"
  bool operator==(const Frequency&) const = default;
};

/// What a processor says about itself.
struct Processor {
  std::string vendor;  ///< "GenuineIntel"
  std::string brand;   ///< without the blanks around it
  int family = 0;      ///< with the extended family added
  int model = 0;       ///< with the extended model in front
  int stepping = 0;
  std::uint32_t highest_leaf = 0;
  std::uint32_t highest_extended_leaf = 0;
  bool hybrid = false;                  ///< cores of two kinds
  bool under_hypervisor = false;        ///< leaf 1 says so; one that hides itself is not seen
  std::string hypervisor;               ///< "KVM", or the signature where the name is not known
  ArchitecturalPerfmon perfmon;         ///< Intel and those that follow it; version 0 where there is none
  int amd_perfmon = 0;                  ///< AMD and Hygon: 0 the four old counters, 1 core extension, 2 PerfMonV2
  int amd_counters = 0;                 ///< AMD and Hygon: core counters; a hypervisor may offer none of them
  std::optional<Frequency> base;        ///< base frequency of the cores
  std::optional<Frequency> time_stamp;  ///< frequency of the time stamp counter
  bool invariant_time_stamp = false;    ///< it runs at one rate in all power states
  bool operator==(const Processor&) const = default;
};

/// Asks all leaves that matter here.
Processor describe_processor(const CpuidReader& read);

}  // namespace tally::pmu
