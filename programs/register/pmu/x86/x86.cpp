// The register tables that all x86 vendors share: the CPUID leaves about counters, CR4 and the clocks.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "programs/register/pmu/codec.hpp"
#include "programs/register/pmu/model.hpp"

namespace tally::pmu {
namespace {

constexpr Source cpuid{"Intel SDM vol. 2A", "CPUID"};
constexpr Source perfmon{"Intel SDM vol. 3B", "Architectural Performance Monitoring"};
constexpr Source amd_cpuid{"AMD APM vol. 3 (24594)", "CPUID"};
constexpr Source control_registers{"Intel SDM vol. 3A", "Control Registers"};
constexpr Source clocks{"Intel SDM vol. 3B", "Time-Stamp Counter; Hardware Coordination Feedback"};

constexpr Field leaf_01_eax[] = {
    bits(3, 0, "stepping", "").as(Show::number),
    bits(7, 4, "model", "model, lower half").as(Show::number),
    bits(11, 8, "family", "").as(Show::number),
    bits(13, 12, "type", "processor type").as(Show::number),
    bits(19, 16, "ext_model", "upper part of the model, if the family is 6 or 15").as(Show::number),
    bits(27, 20, "ext_family", "added to the family, if that is 15").as(Show::number),
};
constexpr Field leaf_01_ecx[] = {
    flag(2, "DTES64", "64-bit layout of the DS area"),
    flag(15, "PDCM", "IA32_PERF_CAPABILITIES exists"),
    flag(31, "HYPERVISOR", "a hypervisor is present"),
};
constexpr Field leaf_01_edx[] = {
    flag(4, "TSC", "RDTSC exists"),
    flag(5, "MSR", "RDMSR and WRMSR exist"),
    flag(9, "APIC", "a local APIC exists"),
    flag(21, "DS", "the DS save area exists"),
};
constexpr Field leaf_07_edx[] = {flag(15, "hybrid", "two types of cores")};

constexpr Field leaf_0a_eax[] = {
    bits(7, 0, "version", "version of architectural performance monitoring; 0: none").as(Show::number),
    bits(15, 8, "counters", "general-purpose counters of a logical processor").as(Show::number),
    bits(23, 16, "width", "their width in bits").as(Show::number),
    bits(31, 24, "events", "valid bits of EBX; an event beyond them is missing").as(Show::number),
};
// Inverted: 1 means missing.
constexpr Field leaf_0a_ebx[] = {
    flag(0, "no_core_cycles", "event 3CH/00H is missing"),
    flag(1, "no_instr", "event C0H/00H, instructions, is missing"),
    flag(2, "no_ref_cycles", "event 3CH/01H is missing"),
    flag(3, "no_llc_ref", "event 2EH/4FH is missing"),
    flag(4, "no_llc_miss", "event 2EH/41H is missing"),
    flag(5, "no_branches", "event C4H/00H is missing"),
    flag(6, "no_mispredicts", "event C5H/00H is missing"),
    flag(7, "no_slots", "event A4H/01H is missing").from(5),
    flag(8, "no_backend", "event A4H/02H is missing").from(6),
    flag(9, "no_bad_spec", "event 73H/00H is missing").from(6),
    flag(10, "no_frontend", "event 9CH/01H is missing").from(6),
    flag(11, "no_retiring", "event C2H/02H is missing").from(6),
    flag(12, "no_lbr_inserts", "event E4H/01H is missing").from(6),
};
constexpr Field leaf_0a_ecx[] = {flag(0, "fixed#", "the fixed counter exists").times(32, 1).from(5)};
constexpr Field leaf_0a_edx[] = {
    bits(4, 0, "fixed", "contiguous fixed counters, from 0").as(Show::number).from(2),
    bits(12, 5, "fixed_width", "their width in bits").as(Show::number).from(2),
    flag(15, "no_any", "AnyThread is deprecated: the ANY bits must be 0").from(4),
};
constexpr Field leaf_15_eax[] = {bits(31, 0, "denominator", "of the ratio of TSC to crystal clock").as(Show::number)};
constexpr Field leaf_15_ebx[] = {bits(31, 0, "numerator", "of the ratio; 0: not reported").as(Show::number)};
constexpr Field leaf_15_ecx[] = {bits(31, 0, "crystal", "crystal clock in hertz; 0: not reported").as(Show::number)};
constexpr Field leaf_16_eax[] = {bits(15, 0, "base_mhz", "base frequency in MHz; 0: not reported").as(Show::number)};
constexpr Field leaf_16_ebx[] = {bits(15, 0, "max_mhz", "highest frequency in MHz; 0: not reported").as(Show::number)};
constexpr Field leaf_16_ecx[] = {bits(15, 0, "bus_mhz", "bus frequency in MHz; 0: not reported").as(Show::number)};
constexpr Field leaf_23_eax[] = {flag(0, "subleaf#", "the sub-leaf exists").times(32, 1)};
constexpr Field leaf_23_ebx[] = {
    flag(0, "UMASK2", "the event select has UMASK2"),
    flag(1, "EQ", "the event select has EQ"),
    flag(2, "RDPMC_DIS", "RDPMC can be refused in user mode, per counter"),
};
constexpr Field leaf_23_1_eax[] = {flag(0, "PMC#", "the general-purpose counter exists").times(32, 1)};
constexpr Field leaf_23_1_ebx[] = {flag(0, "fixed#", "the fixed counter exists").times(32, 1)};
constexpr Field leaf_8001_ecx[] = {
    flag(23, "PerfCtrCore", "core extension: six core counters at C0010200H"),
    flag(24, "PerfCtrNB", "counters of the data fabric"),
    flag(28, "PerfCtrLLC", "counters of the last level cache"),
};
constexpr Field leaf_8007_edx[] = {flag(8, "invariant_TSC", "the time stamp counter runs at one rate")};
constexpr Field leaf_8022_eax[] = {
    flag(0, "PerfMonV2", "global control and status exist"),
    flag(1, "LbrStack", "branch records exist"),
    flag(2, "Freeze", "a PMI may freeze counters and branch records"),
};
constexpr Field leaf_8022_ebx[] = {
    bits(3, 0, "core_counters", "").as(Show::number),
    bits(9, 4, "lbr_depth", "branch records").as(Show::number),
    bits(15, 10, "df_counters", "counters of the data fabric").as(Show::number),
};

constexpr Field cr4[] = {
    flag(2, "TSD", "RDTSC only at CPL 0"),
    flag(8, "PCE", "RDPMC at any CPL"),
};
constexpr Field clock[] = {bits(63, 0, "ticks", "").as(Show::number)};

std::string perfmon_summary(const Value& value) {
  const std::uint64_t version = get(value, "version");
  if (version == 0) return "no architectural performance monitoring";
  return fmt::format("version {}: {} counters of {} bits, {} architectural events known", version,
                     get(value, "counters"), get(value, "width"), get(value, "events"));
}

std::string fixed_summary(const Value& value) {
  return fmt::format("{} fixed counters of {} bits", get(value, "fixed"), get(value, "fixed_width"));
}

std::string signature_summary(const Value& value) {
  const std::uint64_t family = get(value, "family");
  const bool extended = family == 6 || family == 15;
  return fmt::format("family {}, model {}, stepping {}", family == 15 ? family + get(value, "ext_family") : family,
                     get(value, "model") + (extended ? get(value, "ext_model") << 4 : 0), get(value, "stepping"));
}

void version_is_not_counters(const Value& value, std::vector<Remark>& remarks) {
  if (get(value, "version") == 0) {
    remarks.push_back({Severity::note,
                       "no such PMU: another vendor's processor (AMD: CPUID.80000022H), or a hypervisor that hides it",
                       perfmon});
  } else if (get(value, "counters") != get(value, "version")) {
    remarks.push_back({Severity::note,
                       fmt::format("the version is bits 7:0, {}; {} is the number of counters", get(value, "version"),
                                   get(value, "counters")),
                       perfmon});
  }
}

void set_is_missing(const Value& value, std::vector<Remark>& remarks) {
  remarks.push_back({Severity::note,
                     value.bits == 0 ? "no event is reported missing; those beyond EAX[31:24] are missing all the same"
                                     : "a set bit means that the event is missing",
                     perfmon});
}

void user_mode_reads(const Value& value, std::vector<Remark>& remarks) {
  remarks.push_back({Severity::note,
                     get(value, "PCE") != 0
                         ? "each logical processor has its own CR4. Linux sets PCE only while a task that may read "
                           "counters runs (/sys/bus/event_source/devices/cpu/rdpmc)"
                         : "RDPMC in user mode raises #GP(0), not #UD",
                     control_registers});
}

// An output of CPUID; bits without a field have other uses.
constexpr Register output(std::string_view name, std::uint64_t number, std::string_view text,
                          std::span<const Field> fields, const Source& source,
                          std::string (*summary)(const Value&) = nullptr) {
  return {.name = name,
          .text = text,
          .space = Space::cpuid,
          .number = number,
          .fields = fields,
          .source = source,
          .width = 32,
          .access = Access::read_only,
          .others = OtherBits::other_uses,
          .summary = summary};
}

constexpr Register table[] = {
    output("CPUID.01H:EAX", cpuid_output(0x1, 0, 0), "family, model, stepping", leaf_01_eax, cpuid, signature_summary),
    output("CPUID.01H:ECX", cpuid_output(0x1, 0, 2), "features", leaf_01_ecx, cpuid),
    output("CPUID.01H:EDX", cpuid_output(0x1, 0, 3), "features", leaf_01_edx, cpuid),
    output("CPUID.07H:EDX", cpuid_output(0x7, 0, 3), "features", leaf_07_edx, cpuid),
    output("CPUID.0AH:EAX", cpuid_output(0xA, 0, 0), "architectural performance monitoring: version and counters",
           leaf_0a_eax, perfmon, perfmon_summary),
    output("CPUID.0AH:EBX", cpuid_output(0xA, 0, 1), "architectural events that are missing", leaf_0a_ebx, perfmon),
    output("CPUID.0AH:ECX", cpuid_output(0xA, 0, 2), "fixed counters, as a bitmap", leaf_0a_ecx, perfmon),
    output("CPUID.0AH:EDX", cpuid_output(0xA, 0, 3), "fixed counters", leaf_0a_edx, perfmon, fixed_summary),
    output("CPUID.15H:EAX", cpuid_output(0x15, 0, 0), "frequency of the time stamp counter", leaf_15_eax, cpuid),
    output("CPUID.15H:EBX", cpuid_output(0x15, 0, 1), "frequency of the time stamp counter", leaf_15_ebx, cpuid),
    output("CPUID.15H:ECX", cpuid_output(0x15, 0, 2), "frequency of the time stamp counter", leaf_15_ecx, cpuid),
    output("CPUID.16H:EAX", cpuid_output(0x16, 0, 0), "base frequency", leaf_16_eax, cpuid),
    output("CPUID.16H:EBX", cpuid_output(0x16, 0, 1), "highest frequency", leaf_16_ebx, cpuid),
    output("CPUID.16H:ECX", cpuid_output(0x16, 0, 2), "bus frequency", leaf_16_ecx, cpuid),
    output("CPUID.23H:EAX", cpuid_output(0x23, 0, 0), "version 6: which sub-leaves exist", leaf_23_eax, perfmon),
    output("CPUID.23H:EBX", cpuid_output(0x23, 0, 1), "version 6: features", leaf_23_ebx, perfmon),
    output("CPUID.23H.1:EAX", cpuid_output(0x23, 1, 0), "version 6: general-purpose counters, as a bitmap",
           leaf_23_1_eax, perfmon),
    output("CPUID.23H.1:EBX", cpuid_output(0x23, 1, 1), "version 6: fixed counters, as a bitmap", leaf_23_1_ebx,
           perfmon),
    output("CPUID.80000001H:ECX", cpuid_output(0x8000'0001, 0, 2), "AMD: which counters exist", leaf_8001_ecx,
           amd_cpuid),
    output("CPUID.80000007H:EDX", cpuid_output(0x8000'0007, 0, 3), "the time stamp counter", leaf_8007_edx, amd_cpuid),
    output("CPUID.80000022H:EAX", cpuid_output(0x8000'0022, 0, 0), "AMD: PerfMonV2", leaf_8022_eax, amd_cpuid),
    output("CPUID.80000022H:EBX", cpuid_output(0x8000'0022, 0, 1), "AMD: how many counters", leaf_8022_ebx, amd_cpuid),
    {.name = "CR4",
     .text = "privilege levels that may read counters; other bits have other uses",
     .space = Space::control,
     .number = 4,
     .fields = cr4,
     .source = control_registers,
     .reset = "0",
     .others = OtherBits::other_uses},
    {.name = "IA32_TIME_STAMP_COUNTER",
     .aliases = "TSC IA32_TSC",
     .text = "time stamp counter",
     .number = 0x10,
     .fields = clock,
     .source = clocks,
     .reset = "0"},
    {.name = "IA32_MPERF",
     .text = "ticks at the base frequency while not idle",
     .number = 0xE7,
     .fields = clock,
     .source = clocks,
     .reset = "0"},
    {.name = "IA32_APERF",
     .text = "ticks at the actual frequency while not idle",
     .number = 0xE8,
     .fields = clock,
     .source = clocks,
     .reset = "0"},
};

constexpr Rule rules[] = {
    {"version-is-not-counters", "CPUID.0AH:EAX", version_is_not_counters},
    {"set-is-missing", "CPUID.0AH:EBX", set_is_missing},
    {"user-mode-reads", "CR4", user_mode_reads},
};

// Of architectural performance monitoring, which CPUID.0AH describes.
constexpr Version versions[] = {{1, "1"}, {2, "2"}, {3, "3"}, {4, "4"}, {5, "5"}, {6, "6"}};

}  // namespace

const Model x86_model{"x86", "x86: CPUID, CR4, clocks", versions, table, rules};

}  // namespace tally::pmu
