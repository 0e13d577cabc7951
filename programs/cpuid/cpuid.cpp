#include "programs/cpuid/cpuid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "tally/core/base/text.hpp"

namespace tally::pmu {
namespace {

// SDM vol. 3B, table of the architectural events; 7 since Ice Lake, 8 to 12 later.
constexpr ArchitecturalEvent architectural_events[] = {
    {"core cycles", 0x3C, 0x00},
    {"instructions retired", 0xC0, 0x00},
    {"reference cycles", 0x3C, 0x01},
    {"last level cache references", 0x2E, 0x4F},
    {"last level cache misses", 0x2E, 0x41},
    {"branches retired", 0xC4, 0x00},
    {"branch mispredictions retired", 0xC5, 0x00},
    {"top-down slots", 0xA4, 0x01},
    {"top-down backend bound", 0xA4, 0x02},
    {"top-down bad speculation", 0x73, 0x00},
    {"top-down frontend bound", 0x9C, 0x01},
    {"top-down retiring", 0xC2, 0x02},
    {"branch record inserts", 0xE4, 0x01},
};

constexpr std::uint32_t bits_of(std::uint32_t value, int msb, int lsb) {
  return (value >> lsb) & ((2U << (msb - lsb)) - 1);
}

constexpr bool bit_of(std::uint32_t value, int bit) { return ((value >> bit) & 1) != 0; }

// The characters in registers, four each, lowest byte first.
std::string characters(std::initializer_list<std::uint32_t> registers) {
  std::string text;
  for (const std::uint32_t value : registers) {
    for (int shift = 0; shift < 32; shift += 8) {
      if (const char c = static_cast<char>(value >> shift); c != 0) text += c;
    }
  }
  return trimmed(printable(text));
}

std::string brand_of(const CpuidReader& read) {
  std::string text;
  for (std::uint32_t number = 0x8000'0002; number <= 0x8000'0004; ++number) {
    const CpuidLeaf leaf = read(number, 0);
    for (const std::uint32_t value : {leaf.eax, leaf.ebx, leaf.ecx, leaf.edx}) {
      for (int shift = 0; shift < 32; shift += 8) text += static_cast<char>(value >> shift);
    }
  }
  return trimmed(printable(text.substr(0, text.find('\0'))));
}

// Signatures of leaf 40000000H, from the hypervisors' documentation.
std::string hypervisor_name(const std::string& signature) {
  static constexpr std::pair<std::string_view, std::string_view> known[] = {
      {"KVMKVMKVM", "KVM"},           {"Microsoft Hv", "Hyper-V"},    {"VMwareVMware", "VMware"},
      {"XenVMMXenVMM", "Xen"},        {"TCGTCGTCGTCG", "QEMU (TCG)"}, {"bhyve bhyve", "bhyve"},
      {"VBoxVBoxVBox", "VirtualBox"}, {"ACRNACRNACRN", "ACRN"},       {"prl hyperv", "Parallels"},
      {"lrpepyh  vr", "Parallels"},
  };
  for (const auto& [text, name] : known) {
    if (signature == text) return std::string(name);
  }
  return signature;
}

// SDM vol. 2A, CPUID, leaf 01H: the extended family applies only to family 15, the extended model to 6 and 15. AMD's
// manual says the same for 15; AMD processors never have family 6 with an extended model.
void read_signature(std::uint32_t eax, Processor& processor) {
  const auto family = static_cast<int>(bits_of(eax, 11, 8));
  const auto model = static_cast<int>(bits_of(eax, 7, 4));
  const bool extended = family == 6 || family == 15;
  processor.family = family == 15 ? family + static_cast<int>(bits_of(eax, 27, 20)) : family;
  processor.model = extended ? model + (static_cast<int>(bits_of(eax, 19, 16)) << 4) : model;
  processor.stepping = static_cast<int>(bits_of(eax, 3, 0));
}

bool follows_amd(const Processor& processor) {
  return processor.vendor == "AuthenticAMD" || processor.vendor == "HygonGenuine";
}

// "Intel(R) Xeon(R) CPU E5-1620 v3 @ 3.50GHz"; nothing if the brand contains no frequency.
std::optional<Frequency> frequency_in(const std::string& brand) {
  const std::size_t at = brand.rfind("@ ");
  if (at == std::string::npos) return std::nullopt;
  double number = 0;
  const char* const end = brand.data() + brand.size();
  const auto [unit_begin, error] = std::from_chars(brand.data() + at + 2, end, number);
  const std::string_view unit(unit_begin, static_cast<std::size_t>(end - unit_begin));
  const double scale = unit == "GHz" ? 1e9 : unit == "MHz" ? 1e6 : 0;
  if (error != std::errc{} || !(number > 0) || number > 1e6 || scale == 0) return std::nullopt;
  return Frequency{static_cast<std::uint64_t>(std::llround(number * scale)), "the brand string"};
}

void read_frequencies(const CpuidReader& read, Processor& processor) {
  if (processor.highest_leaf >= 0x15) {
    const CpuidLeaf ratio = read(0x15, 0);
    if (ratio.eax != 0 && ratio.ebx != 0 && ratio.ecx != 0) {
      processor.time_stamp = Frequency{std::uint64_t{ratio.ecx} * ratio.ebx / ratio.eax, "CPUID.15H"};
    }
  }
  if (processor.highest_leaf >= 0x16) {
    if (const std::uint32_t mhz = bits_of(read(0x16, 0).eax, 15, 0); mhz != 0) {
      processor.base = Frequency{mhz * 1'000'000ULL, "CPUID.16H:EAX"};
    }
  }
  if (!processor.base) processor.base = frequency_in(processor.brand);
}

// AMD APM vol. 3, CPUID 8000_0001H:ECX[23] and 8000_0022H: 4 counters without the core extension, 6 with it, and with
// PerfMonV2 the number in EBX.
void read_amd_counters(const CpuidReader& read, Processor& processor) {
  const bool core_extension = processor.highest_extended_leaf >= 0x8000'0001 && bit_of(read(0x8000'0001, 0).ecx, 23);
  processor.amd_perfmon = core_extension ? 1 : 0;
  processor.amd_counters = core_extension ? 6 : 4;
  if (processor.highest_extended_leaf < 0x8000'0022) return;
  const CpuidLeaf monitoring = read(0x8000'0022, 0);
  if (!bit_of(monitoring.eax, 0)) return;
  processor.amd_perfmon = 2;
  processor.amd_counters = static_cast<int>(bits_of(monitoring.ebx, 3, 0));
}

}  // namespace

ArchitecturalPerfmon decode_architectural_perfmon(const CpuidLeaf& leaf) {
  ArchitecturalPerfmon perfmon;
  perfmon.version = static_cast<int>(bits_of(leaf.eax, 7, 0));
  if (perfmon.version == 0) return perfmon;
  perfmon.counters = static_cast<int>(bits_of(leaf.eax, 15, 8));
  perfmon.counter_width = static_cast<int>(bits_of(leaf.eax, 23, 16));
  if (perfmon.version >= 2) {
    const int contiguous = static_cast<int>(bits_of(leaf.edx, 4, 0));
    perfmon.fixed_counters = (1U << contiguous) - 1;
    perfmon.fixed_width = static_cast<int>(bits_of(leaf.edx, 12, 5));
  }
  if (perfmon.version >= 5) perfmon.fixed_counters |= leaf.ecx;
  perfmon.any_thread_deprecated = bit_of(leaf.edx, 15);
  const int valid = static_cast<int>(bits_of(leaf.eax, 31, 24));
  int number = 0;
  for (ArchitecturalEvent event : architectural_events) {
    event.available = number < valid && !bit_of(leaf.ebx, number);
    perfmon.events.push_back(event);
    ++number;
  }
  return perfmon;
}

Processor describe_processor(const CpuidReader& read) {
  Processor processor;
  const CpuidLeaf first = read(0, 0);
  processor.highest_leaf = first.eax;
  processor.vendor = characters({first.ebx, first.edx, first.ecx});
  processor.highest_extended_leaf = read(0x8000'0000, 0).eax;
  const CpuidLeaf features = read(1, 0);
  read_signature(features.eax, processor);
  processor.under_hypervisor = bit_of(features.ecx, 31);
  if (processor.under_hypervisor) {
    const CpuidLeaf leaf = read(0x4000'0000, 0);
    processor.hypervisor = hypervisor_name(characters({leaf.ebx, leaf.ecx, leaf.edx}));
  }
  if (processor.highest_leaf >= 7) processor.hybrid = bit_of(read(7, 0).edx, 15);
  if (processor.highest_extended_leaf >= 0x8000'0004) processor.brand = brand_of(read);
  if (processor.highest_extended_leaf >= 0x8000'0007) {
    processor.invariant_time_stamp = bit_of(read(0x8000'0007, 0).edx, 8);
  }
  if (follows_amd(processor)) {
    read_amd_counters(read, processor);
  } else if (processor.highest_leaf >= 0xA) {
    processor.perfmon = decode_architectural_perfmon(read(0xA, 0));
  }
  read_frequencies(read, processor);
  return processor;
}

}  // namespace tally::pmu
