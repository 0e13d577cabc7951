#include "programs/lab/pmu/core_profile.hpp"

#include <bit>

namespace tally::pmu::emulated {
namespace {

// IA32_PERF_CAPABILITIES: LBR format 4 to 6, PEBS traps, architectural registers, record format; bit 12 is the freeze
// in SMM, bit 13 full-width writes.
constexpr std::uint64_t nehalem_capabilities = 0x01C3;
constexpr std::uint64_t haswell_capabilities = 0x32C4;
constexpr std::uint64_t skylake_capabilities = 0x33C5;
constexpr std::uint64_t icelake_capabilities = 0x33C5;  // without bit 15: PERF_METRICS is not modelled

// Signatures of the models in Linux (arch/x86/include/asm/intel-family.h).
constexpr Profile all[] = {
    {.name = "haswell-v3",
     .title = "Haswell client: version 3, four counters of 48 bits, three fixed ones",
     .capabilities = haswell_capabilities,
     .pebs = true,
     .signature = 0x306C3},
    {.name = "nehalem-v3",
     .title = "Nehalem, the perfmon notes' processor: version 3, no full-width writes",
     .capabilities = nehalem_capabilities,
     .pebs = true,
     .signature = 0x106A5},
    {.name = "skylake-v4",
     .title = "Skylake client: version 4, streamlined freeze, STATUS_SET and INUSE",
     .version = 4,
     .capabilities = skylake_capabilities,
     .pebs = true,
     .signature = 0x506E3},
    {.name = "icelake-v5",
     .title = "Ice Lake client: version 5, eight counters, four fixed ones, no AnyThread",
     .version = 5,
     .counters = 8,
     .fixed = 0b1111,
     .announced_events = 8,
     .any_thread = false,
     .capabilities = icelake_capabilities,
     .signature = 0x706E5},
    {.name = "kvm-v2",
     .title = "what KVM shows its guests: version 2, no AnyThread, wide writes truncated",
     .version = 2,
     .any_thread = false,
     .capabilities = 1ULL << 13,
     .fixed_write = WideWrite::truncates,
     .signature = 0x306C3},
};

constexpr Source sdm{"Intel SDM vol. 3B", "Architectural Performance Monitoring"};
constexpr Source pebs{"Intel SDM vol. 3B", "Processor Event Based Sampling (PEBS) Facility"};
constexpr Source kvm{"Linux", "KVM, arch/x86/kvm/pmu.c and vmx/pmu_intel.c"};
constexpr Source notes{"Intel perfmon notes", "10.1.2"};

constexpr Choice chosen[] = {
    {"flag of the interrupt in IA32_PERF_GLOBAL_INUSE", "bit 63, as the SDM's diagram shows",
     "bit 32 of the SDM's prose, which is fixed counter 0", sdm},
    {"IA32_FIXED_CTRn, bits beyond the width", "#GP(0); kvm-v2 truncates", "truncating everywhere, as KVM does", sdm},
    {"reading IA32_PERF_GLOBAL_STATUS_RESET (390H)", "0", "the last value, as a read-modify-write would need", kvm},
    {"bit 19 (PC) of IA32_PERFEVTSELn", "accepted, without effect", "toggling a pin", kvm},
    {"bit 21 (ANY)", "by profile: version 3 and 4 only, never on kvm-v2", "accepting it everywhere", sdm},
    {"which WRMSR of an enabling and disabling pair is counted", "the disabling one",
     "only their sum is tested by others", notes},
    {"PMI while the LVT entry is masked", "lost", "kept until it is unmasked", kvm},
    {"freeze at a PMI that the LVT entry masks", "none: nothing is delivered", "freezing all the same", sdm},
    {"distance of PEBS records", "N + 1 events if the reset value is -N: the overflow arms, the next event records",
     "N events", pebs},
    {"PEBS record that does not fit", "not stored; the counter is not reloaded", "an overwritten record", pebs},
    {"PEBS of events that belong to no instruction (cycles, slots)", "no record", "a record somewhere", pebs},
    {"load latency, IA32_PEBS_ENABLE[35:32]", "reserved: there are no caches to wait for", "invented latencies", pebs},
    {"PEBS on icelake-v5 and kvm-v2", "unavailable: IA32_MISC_ENABLE[12] is set and 3F1H raises #GP(0)",
     "adaptive records", sdm},
    {"condition changed (IA32_PERF_GLOBAL_STATUS[63])", "never set by the model; may be cleared", "setting it at a PMI",
     sdm},
};

}  // namespace

std::span<const Profile> profiles() { return all; }

const Profile* profile_of(std::string_view name) {
  for (const Profile& profile : all) {
    if (profile.name == name) return &profile;
  }
  return nullptr;
}

std::span<const Choice> choices() { return chosen; }

CpuidLeaf perfmon_leaf(const Profile& profile) {
  CpuidLeaf leaf;
  leaf.eax = static_cast<std::uint32_t>(profile.version | profile.counters << 8 | profile.width << 16 |
                                        profile.announced_events << 24);
  leaf.ebx = profile.unavailable_events;
  if (profile.version >= 2) {
    leaf.edx = static_cast<std::uint32_t>(std::popcount(profile.fixed) | profile.width << 5);
  }
  if (profile.version >= 5) {
    leaf.ecx = profile.fixed;
    if (!profile.any_thread) leaf.edx |= 1U << 15;
  }
  return leaf;
}

bool has(const Profile& profile, Feature feature, int index) {
  switch (feature) {
    case Feature::always: return true;
    case Feature::counter: return index < profile.counters;
    case Feature::fixed_counter: return profile.version >= 2 && profile.has_fixed(index);
    case Feature::any_thread: return profile.any_thread && profile.has_fixed(index);
    case Feature::full_width: return profile.has_capability(13) && index < profile.counters;
    case Feature::metrics: return profile.has_capability(15);
    case Feature::smm_freeze: return profile.has_capability(12);
    case Feature::capabilities: return profile.capabilities.has_value();
    case Feature::pebs: return profile.pebs;
    // No profile has these: see choices().
    case Feature::transactions:
    case Feature::branch_events:
    case Feature::adaptive_pebs:
    case Feature::pebs_extras:
    case Feature::tracing:
    case Feature::enclaves: break;
  }
  return false;
}

std::uint64_t existing_bits(const Profile& profile, const Register& reg) {
  std::uint64_t bits = 0;
  for (const Slot& slot : slots(reg, profile.version)) {
    // The number in the field's name. A bit of IA32_PERFEVTSELn has none, and exists if its register does.
    const int index = slot.field->count > 1 ? slot.field->first + slot.index : 0;
    if (has(profile, slot.field->needs, index)) bits |= slot.mask();
  }
  return bits;
}

bool exists(const Profile& profile, const RegisterInstance& place) {
  const Register& reg = *place.reg;
  if (profile.version < reg.since || profile.version > reg.until) return false;
  return has(profile, reg.needs, reg.first + place.index);
}

}  // namespace tally::pmu::emulated
