// Decodes what CPUID reports about a processor and its counters. The caller executes the instruction, so dumps of other
// machines can be decoded too.
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

/// Reads a leaf and sub-leaf from this machine or from a dump.
using CpuidReader = std::function<CpuidLeaf(std::uint32_t leaf, std::uint32_t subleaf)>;

/// An architectural event as enumerated by leaf 0AH.
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
  int version = 0;  ///< 0: not supported, and everything below is 0
  int counters = 0;
  int counter_width = 0;             ///< bits
  std::uint32_t fixed_counters = 0;  ///< bit i: fixed counter i exists
  int fixed_width = 0;               ///< bits
  bool any_thread_deprecated = false;
  std::vector<ArchitecturalEvent> events;
  bool operator==(const ArchitecturalPerfmon&) const = default;
};

/// Decodes leaf 0AH. An event is not available if its bit of EBX is set or beyond the number of bits that EAX declares
/// valid. A fixed counter exists if its bit in ECX is set or its number is below EDX's count.
ArchitecturalPerfmon decode_architectural_perfmon(const CpuidLeaf& leaf);

/// A frequency, and the register that it is from.
struct Frequency {
  std::uint64_t hertz = 0;
  std::string source;  ///< "CPUID.16H:EAX"
  bool operator==(const Frequency&) const = default;
};

/// A processor as described by CPUID.
struct Processor {
  std::string vendor;  ///< "GenuineIntel"
  std::string brand;   ///< without surrounding spaces
  int family = 0;      ///< including the extended family
  int model = 0;       ///< including the extended model
  int stepping = 0;
  std::uint32_t highest_leaf = 0;
  std::uint32_t highest_extended_leaf = 0;
  bool hybrid = false;                  ///< two core types
  bool under_hypervisor = false;        ///< from leaf 1; not set if the hypervisor hides itself
  std::string hypervisor;               ///< "KVM", or the signature if its name is unknown
  ArchitecturalPerfmon perfmon;         ///< Intel and compatible; version 0 if not supported
  int amd_perfmon = 0;                  ///< AMD and Hygon: 0: four legacy counters, 1: core extension, 2: PerfMonV2
  int amd_counters = 0;                 ///< AMD and Hygon: core counters; a hypervisor may offer none
  std::optional<Frequency> base;        ///< base frequency of the cores
  std::optional<Frequency> time_stamp;  ///< frequency of the time stamp counter
  bool invariant_time_stamp = false;    ///< the time stamp counter has a constant rate in all power states
  bool operator==(const Processor&) const = default;
};

/// Reads all leaves that a Processor needs.
Processor describe_processor(const CpuidReader& read);

}  // namespace tally::pmu
