// The register tables of Intel architectural performance monitoring, versions 1 to 6.
#include "programs/register/pmu/intel/readings.hpp"
#include "programs/register/pmu/intel/rules.hpp"
#include "tally/hardware/pmu/intel/event_select.hpp"

namespace tally::pmu::intel {
namespace {

// Chapters of the SDM are cited by title, because their numbers change with each edition.
constexpr Source v1{"Intel SDM vol. 3B", "Architectural Performance Monitoring Version 1"};
constexpr Source v2{"Intel SDM vol. 3B", "Architectural Performance Monitoring Version 2"};
constexpr Source v4{"Intel SDM vol. 3B", "Architectural Performance Monitoring Version 4"};
constexpr Source v6{"Intel SDM vol. 3B", "Architectural Performance Monitoring Version 6"};
constexpr Source fixed{"Intel SDM vol. 3B", "Fixed-function Performance Counters"};
constexpr Source full_width{"Intel SDM vol. 3B", "Full-Width Writes to Performance Counter Registers"};
constexpr Source metrics{"Intel SDM vol. 3B", "Performance Metrics"};
constexpr Source pebs{"Intel SDM vol. 3B", "Processor Event Based Sampling (PEBS) Facility"};
constexpr Source msrs{"Intel SDM vol. 4", "table of the architectural MSRs"};
constexpr Source debug{"Intel SDM vol. 3B", "IA32_DEBUGCTL MSR"};
constexpr Source rdpmc{"Intel SDM vol. 2B", "RDPMC"};
constexpr Source linux_v6{"Linux", "arch/x86/events/intel/core.c, auto counter reload; msr-index.h"};

constexpr Field counter_48[] = {bits(47, 0, "count", "events counted; 48 bits wide since Nehalem").as(Show::counter)};

constexpr Field fixed_control[] = {
    flag(0, "OS#", "counts at CPL 0 (kernel mode)").times(8, 4).needing(Feature::fixed_counter),
    flag(1, "USR#", "counts at CPL 1 to 3 (user mode)").times(8, 4).needing(Feature::fixed_counter),
    flag(2, "ANY#", "counts the other threads of the core as well")
        .times(8, 4)
        .from(3)
        .upto(4)
        .needing(Feature::any_thread),
    flag(3, "PMI#", "interrupt at overflow").times(8, 4).needing(Feature::fixed_counter),
    flag(32, "ADAPTIVE#", "writes an adaptive PEBS record").times(8, 4).needing(Feature::adaptive_pebs).from(5),
    flag(33, "RDPMC_DIS#", "RDPMC_USER_DISABLE: refuses RDPMC in user mode").times(8, 4).from(6),
};

constexpr Field global_control[] = {
    flag(0, "EN_PMC#", "the counter may count").times(32, 1).needing(Feature::counter),
    flag(32, "EN_FIXED#", "the fixed counter may count").times(16, 1).needing(Feature::fixed_counter),
    flag(48, "EN_METRICS", "PERF_METRICS counts").needing(Feature::metrics),
};

constexpr Field global_status[] = {
    flag(0, "Ovf_PMC#", "the counter has overflowed").times(32, 1).needing(Feature::counter),
    flag(32, "Ovf_FIXED#", "the fixed counter has overflowed").times(16, 1).needing(Feature::fixed_counter),
    flag(48, "Ovf_METRICS", "a counter that PERF_METRICS is computed from has overflowed").needing(Feature::metrics),
    flag(54, "Arch_PEBS", "the architectural PEBS buffer needs service").from(6),
    flag(55, "ToPA_PMI", "Intel PT has filled a region of its output").from(4),
    flag(58, "LBR_Frz", "the branch records are frozen").from(4),
    flag(59, "CTR_Frz", "the counters are frozen").from(4),
    flag(60, "ASCI", "counted inside an enclave (SGX)").from(4),
    flag(61, "Ovf_Uncore", "an uncore counter has overflowed").from(3),
    flag(62, "OvfBuf", "the DS save area has reached its threshold"),
    flag(63, "CondChgd", "the state of the counters has changed"),
};

constexpr Field status_reset[] = {
    flag(0, "Clr_PMC#", "clears the counter's overflow").times(32, 1).needing(Feature::counter),
    flag(32, "Clr_FIXED#", "clears the fixed counter's overflow").times(16, 1).needing(Feature::fixed_counter),
    flag(48, "Clr_METRICS", "clears Ovf_METRICS").needing(Feature::metrics),
    flag(54, "Clr_PEBS", "clears Arch_PEBS").from(6),
    flag(55, "Clr_ToPA", "clears ToPA_PMI").from(4),
    flag(58, "Clr_LBR", "clears LBR_Frz: branch records resume").from(4),
    flag(59, "Clr_CTR", "clears CTR_Frz: counters resume").from(4),
    flag(60, "Clr_ASCI", "clears ASCI").from(4),
    flag(61, "Clr_Uncore", "clears Ovf_Uncore").from(3),
    flag(62, "Clr_OvfBuf", "clears OvfBuf"),
    flag(63, "Clr_Cond", "clears CondChgd"),
};

constexpr Field status_set[] = {
    flag(0, "Set_PMC#", "sets the counter's overflow").times(32, 1).needing(Feature::counter),
    flag(32, "Set_FIXED#", "sets the fixed counter's overflow").times(16, 1).needing(Feature::fixed_counter),
    flag(48, "Set_METRICS", "sets Ovf_METRICS").needing(Feature::metrics),
    flag(54, "Set_PEBS", "sets Arch_PEBS").from(6),
    flag(55, "Set_ToPA", "sets ToPA_PMI"),
    flag(58, "Set_LBR", "sets LBR_Frz"),
    flag(59, "Set_CTR", "sets CTR_Frz: counters stop"),
    flag(60, "Set_ASCI", "sets ASCI"),
    flag(61, "Set_Uncore", "sets Ovf_Uncore"),
    flag(62, "Set_OvfBuf", "sets OvfBuf"),
};

// The interrupt flag is bit 63 in the SDM's diagram and 32 in its text. The diagram must be right: bit 32 is fixed
// counter 0.
constexpr Field in_use[] = {
    flag(0, "Use_PMC#", "the counter's event select is not 0").times(32, 1),
    flag(32, "Use_FIXED#", "the fixed counter is enabled in some mode").times(16, 1),
    flag(63, "Use_PMI", "some counter may interrupt"),
};

constexpr Field capabilities[] = {
    bits(5, 0, "LBR_FMT", "format of the branch records; 3FH: architectural"),
    flag(6, "PEBS_TRAP", "PEBS records after the instruction, not before it"),
    flag(7, "PEBS_ARCH_REG", "PEBS records the architectural registers"),
    bits(11, 8, "PEBS_REC_FMT", "format of the PEBS records").as(Show::number),
    flag(12, "SMM_FREEZE", "counters may be frozen in SMM"),
    flag(13, "FW_WRITE", "IA32_A_PMCn exist: counters may be written in full width"),
    flag(14, "PEBS_BASELINE", "adaptive PEBS, fixed counters included").from(5),
    flag(15, "METRICS", "PERF_METRICS exists"),
    flag(16, "PEBS_PT", "PEBS may write into Intel PT's output"),
    flag(17, "PEBS_TIMING", "PEBS records timing").from(5),
};

constexpr Field metric_fields[] = {
    bits(7, 0, "retiring", "of 255 slots").as(Show::number),
    bits(15, 8, "bad_speculation", "of 255 slots").as(Show::number),
    bits(23, 16, "frontend_bound", "of 255 slots").as(Show::number),
    bits(31, 24, "backend_bound", "of 255 slots").as(Show::number),
    bits(39, 32, "heavy_operations", "of 255 slots; since Sapphire Rapids").as(Show::number),
    bits(47, 40, "branch_mispredicts", "of 255 slots; since Sapphire Rapids").as(Show::number),
    bits(55, 48, "fetch_latency", "of 255 slots; since Sapphire Rapids").as(Show::number),
    bits(63, 56, "memory_bound", "of 255 slots; since Sapphire Rapids").as(Show::number),
};

constexpr Field pebs_enable[] = {
    flag(0, "PEBS_PMC#", "the counter writes PEBS records").times(8, 1).needing(Feature::counter),
    flag(32, "PEBS_FIXED#", "the fixed counter writes PEBS records (Ice Lake and later)").times(16, 1).from(5),
    flag(63, "PS_EN", "precise stores (Sandy Bridge and Ivy Bridge)").needing(Feature::pebs_extras),
};

constexpr Field pebs_data[] = {
    flag(0, "memory", "records the memory access"),
    flag(1, "GPR", "records the general registers"),
    flag(2, "XMM", "records the XMM registers"),
    flag(3, "LBR", "records branches"),
    bits(31, 24, "LBR_entries", "branch records, less one").as(Show::number),
};

constexpr Field load_latency[] = {
    bits(15, 0, "threshold", "core cycles; the least that is valid is 3").as(Show::number),
};

// The mask in Linux (arch/x86/events/intel/core.c) is 7FFF17H.
constexpr Field front_end[] = {
    bits(2, 0, "event", "kind of front-end event"),
    flag(4, "event_high", "upper bit of the kind"),
    bits(19, 8, "bubble_length", "cycles that a bubble of micro-ops lasts at least").as(Show::number),
    bits(22, 20, "bubble_width", "micro-ops that are missing in each cycle of a bubble at least").as(Show::number),
};

constexpr Field linear_address[] = {bits(63, 0, "address", "linear address of the DS buffer management area")};

constexpr Field debug_control[] = {
    flag(0, "LBR", "records branches"),
    flag(1, "BTF", "single-steps on branches instead of instructions"),
    flag(2, "BLD", "traps on bus locks"),
    flag(6, "TR", "sends branch trace messages"),
    flag(7, "BTS", "stores branch trace messages in the BTS buffer"),
    flag(8, "BTINT", "interrupt when the BTS buffer is full"),
    flag(9, "BTS_OFF_OS", "no branch trace at CPL 0"),
    flag(10, "BTS_OFF_USR", "no branch trace at CPL 1 to 3"),
    flag(11, "FREEZE_LBR", "FREEZE_LBRS_ON_PMI: a PMI stops the branch records").from(2),
    flag(12, "FREEZE_PMON", "FREEZE_PERFMON_ON_PMI: a PMI stops the counters").from(2),
    flag(13, "UNCORE_PMI", "the uncore may interrupt"),
    flag(14, "FREEZE_SMM", "FREEZE_WHILE_SMM: needs IA32_PERF_CAPABILITIES bit 12").needing(Feature::smm_freeze),
    flag(15, "RTM_DEBUG", "advanced debugging of transactions").needing(Feature::transactions),
};

constexpr Field misc_enable[] = {
    flag(7, "PERFMON_AVAIL", "performance monitoring is available").may(Access::read_only),
    flag(11, "BTS_UNAVAIL", "branch trace storage is not available").may(Access::read_only),
    flag(12, "PEBS_UNAVAIL", "PEBS is not available").may(Access::read_only),
};

constexpr Meaning delivery_modes[] = {
    {0, "Fixed"}, {2, "SMI"}, {4, "NMI"}, {5, "INIT: not supported"}, {7, "ExtINT: not supported"}};
constexpr Field local_vector[] = {
    bits(7, 0, "vector", "interrupt vector; not used with NMI and SMI"),
    bits(10, 8, "mode", "delivery mode").named(delivery_modes),
    flag(12, "status", "delivery is pending").may(Access::read_only),
    flag(16, "mask", "no interrupt is delivered; hardware sets it with each one"),
};

constexpr Field platform_info[] = {
    bits(15, 8, "base_ratio", "base frequency in units of 100 MHz (133 MHz on Nehalem)").as(Show::number),
};

constexpr Field prefetch_control[] = {
    flag(0, "L2_OFF", "switches off the L2 stream prefetcher"),
    flag(1, "L2_PAIR_OFF", "switches off the L2 prefetcher of the adjacent line"),
    flag(2, "DCU_OFF", "switches off the L1 data prefetcher of the next line"),
    flag(3, "DCU_IP_OFF", "switches off the L1 data prefetcher that predicts from the load's address"),
    flag(5, "L2_AMP_OFF", "switches off the L2 adaptive prefetcher (Alder Lake and later)"),
};

// Sandy Bridge to Broadwell; bits 22 to 30 select suppliers beyond the last-level cache and differ between models. An
// access counts if it matches one of the requests, one of the suppliers, and one of the snoop results.
constexpr Field offcore_response[] = {
    flag(0, "DMND_DATA_RD", "request: demand read of data"),
    flag(1, "DMND_RFO", "request: demand read for ownership (a store)"),
    flag(2, "DMND_IFETCH", "request: demand read of instructions"),
    flag(3, "WB", "request: write-back of a modified line"),
    flag(4, "PF_DATA_RD", "request: L2 prefetch of data"),
    flag(5, "PF_RFO", "request: L2 prefetch for ownership"),
    flag(6, "PF_IFETCH", "request: L2 prefetch of instructions"),
    flag(7, "PF_LLC_DATA_RD", "request: L3 prefetch of data"),
    flag(8, "PF_LLC_RFO", "request: L3 prefetch for ownership"),
    flag(9, "PF_LLC_IFETCH", "request: L3 prefetch of instructions"),
    flag(10, "BUS_LOCKS", "request: bus lock or split lock"),
    flag(11, "STRM_ST", "request: streaming store"),
    flag(15, "OTHER", "request: any other"),
    flag(16, "ANY_RESPONSE", "any supplier and snoop result: bits 17 to 37 have no effect"),
    flag(17, "NO_SUPP", "supplier: not known"),
    flag(18, "LLC_HITM", "supplier: L3, line modified"),
    flag(19, "LLC_HITE", "supplier: L3, line exclusive"),
    flag(20, "LLC_HITS", "supplier: L3, line shared"),
    flag(21, "LLC_HITF", "supplier: L3, line in state F"),
    bits(30, 22, "beyond_LLC", "suppliers beyond the L3, by model; bit 22: local memory"),
    flag(31, "SNP_NONE", "snoop result: no details"),
    flag(32, "SNP_NOT_NEEDED", "snoop result: no snoop was needed"),
    flag(33, "SNP_MISS", "snoop result: no other core had the line"),
    flag(34, "SNP_NO_FWD", "snoop result: another core had it and did not forward it"),
    flag(35, "SNP_FWD", "snoop result: another core forwarded it"),
    flag(36, "HITM", "snoop result: another core had it modified"),
    flag(37, "NON_DRAM", "snoop result: not memory (MMIO)"),
};

constexpr Meaning counter_types[] = {{0, "general-purpose"}, {0x2000, "PERF_METRICS"}, {0x4000, "fixed"}};
constexpr Field rdpmc_operand[] = {
    bits(15, 0, "index", "number of the counter").as(Show::number),
    bits(31, 16, "type", "kind of counter").named(counter_types),
};

// The counters of an auto counter reload mask.
constexpr Field reload_mask[] = {
    flag(0, "RELOAD_PMC#", "that counter's overflow reloads this one").times(32, 1),
    flag(32, "RELOAD_FIXED#", "that fixed counter's overflow reloads this one").times(16, 1),
};
constexpr Field reload_value[] = {bits(31, 0, "reload", "what the counter is reloaded with")};

// Not constexpr: the fields of IA32_PERFEVTSELn are defined with their codec.
const Register table[] = {
    {.name = "IA32_PMC#",
     .text = "general-purpose counter, as RDPMC reads it",
     .number = 0xC1,
     .fields = counter_48,
     .source = v1,
     .reset = "0",
     .note = "WRMSR takes EAX sign-extended to the counter's width and ignores EDX; IA32_A_PMCn takes all bits",
     .others = OtherBits::ignored,
     .since = 1,
     .count = 8,
     .needs = Feature::counter},
    {.name = "IA32_PERFEVTSEL#",
     .aliases = "EVTSEL#",
     .text = "what a general-purpose counter counts",
     .number = 0x186,
     .fields = event_select_fields,
     .source = v1,
     .reset = "0",
     .note = "a reserved bit raises #GP(0)",
     .since = 1,
     .count = 8,
     .needs = Feature::counter,
     .summary = event_select_summary,
     .explain = event_select_reading},
    {.name = "IA32_A_PMC#",
     .text = "general-purpose counter, writable in full width",
     .number = 0x4C1,
     .fields = counter_48,
     .source = full_width,
     .reset = "0",
     .note = "exists where IA32_PERF_CAPABILITIES bit 13 is set; a bit beyond the width raises #GP(0)",
     .since = 1,
     .count = 8,
     .needs = Feature::full_width},
    {.name = "IA32_FIXED_CTR#",
     .text = "fixed counter: 0 instructions, 1 core cycles, 2 reference cycles, 3 slots",
     .number = 0x309,
     .fields = counter_48,
     .source = fixed,
     .reset = "0",
     .note = "written in full width; bits beyond it are reserved in the SDM, KVM drops them",
     .since = 2,
     .count = 7,
     .needs = Feature::fixed_counter},
    {.name = "PERF_METRICS",
     .text = "shares of the top-down categories, in 255ths of the slots",
     .number = 0x329,
     .fields = metric_fields,
     .source = metrics,
     .reset = "0",
     .note = "exists where IA32_PERF_CAPABILITIES bit 15 is set",
     .needs = Feature::metrics},
    {.name = "IA32_PERF_CAPABILITIES",
     .text = "which features of performance monitoring exist",
     .number = 0x345,
     .fields = capabilities,
     .source = msrs,
     .access = Access::read_only,
     .note = "exists where CPUID.01H:ECX[15] (PDCM) is set",
     .needs = Feature::capabilities},
    {.name = "IA32_FIXED_CTR_CTRL",
     .text = "in which modes the fixed counters count, and whether they interrupt",
     .number = 0x38D,
     .fields = fixed_control,
     .source = v2,
     .reset = "0",
     .note = "a bit of a counter that does not exist raises #GP(0)",
     .since = 2,
     .summary = fixed_control_summary},
    {.name = "IA32_PERF_GLOBAL_STATUS",
     .text = "which counters have overflowed",
     .number = 0x38E,
     .fields = global_status,
     .source = v2,
     .access = Access::read_only,
     .reset = "0",
     .note = "WRMSR raises #GP(0); cleared through 390H",
     .since = 2,
     .summary = global_status_summary},
    {.name = "IA32_PERF_GLOBAL_CTRL",
     .text = "which counters may count at all",
     .number = 0x38F,
     .fields = global_control,
     .source = v2,
     .reset = "all general-purpose counters enabled: 2^n - 1",
     .note = "a counter counts where this and its own control allow it; a bit of a counter that does not exist raises "
             "#GP(0)",
     .since = 2,
     .summary = global_control_summary},
    {.name = "IA32_PERF_GLOBAL_STATUS_RESET",
     .aliases = "IA32_PERF_GLOBAL_OVF_CTRL",
     .text = "clears bits of the status; IA32_PERF_GLOBAL_OVF_CTRL up to version 3",
     .number = 0x390,
     .fields = status_reset,
     .source = v4,
     .access = Access::write_1_to_clear,
     .reset = "reads 0",
     .note = "a reserved bit raises #GP(0)",
     .since = 2,
     .summary = reset_summary},
    {.name = "IA32_PERF_GLOBAL_STATUS_SET",
     .text = "sets bits of the status, as overflows would",
     .number = 0x391,
     .fields = status_set,
     .source = v4,
     .access = Access::write_1_to_set,
     .note = "a reserved bit raises #GP(0)",
     .since = 4},
    {.name = "IA32_PERF_GLOBAL_INUSE",
     .text = "which counters are in use",
     .number = 0x392,
     .fields = in_use,
     .source = v4,
     .access = Access::read_only,
     .since = 4},
    {.name = "IA32_PEBS_ENABLE",
     .text = "which counters write PEBS records",
     .number = 0x3F1,
     .fields = pebs_enable,
     .source = pebs,
     .reset = "0",
     .note = "before Ice Lake bits 35:32 are the load latency of counters 0 to 3; a reserved bit raises #GP(0)",
     .needs = Feature::pebs,
     .summary = pebs_enable_summary},
    {.name = "MSR_PEBS_DATA_CFG",
     .text = "what an adaptive PEBS record holds",
     .number = 0x3F2,
     .fields = pebs_data,
     .source = pebs,
     .reset = "0",
     .note = "exists where IA32_PERF_CAPABILITIES bit 14 is set",
     .needs = Feature::adaptive_pebs},
    {.name = "MSR_PEBS_LD_LAT_THRESHOLD",
     .aliases = "MSR_PEBS_LD_LAT",
     .text = "the latency from which on PEBS records a load (event CDH, umask 01H)",
     .number = 0x3F6,
     .fields = load_latency,
     .source = {"Intel SDM vol. 3B", "Load Latency Performance Monitoring Facility"},
     .reset = "0",
     .note = "Nehalem and later",
     .needs = Feature::pebs_extras},
    {.name = "MSR_PEBS_FRONTEND",
     .text = "which front-end events PEBS records (event C6H, umask 01H)",
     .number = 0x3F7,
     .fields = front_end,
     .source = {"Intel SDM vol. 4", "model-specific tables, MSR_PEBS_FRONTEND"},
     .reset = "0",
     .note = "Skylake and later",
     .needs = Feature::pebs_extras},
    {.name = "IA32_DS_AREA",
     .text = "address of the description of the PEBS and BTS buffers",
     .number = 0x600,
     .fields = linear_address,
     .source = msrs,
     .reset = "0",
     .note =
         "an address that is not canonical raises #GP(0). At 20H in the area: the base of the PEBS buffer, at 28H the "
         "index, at 30H the absolute maximum, at 38H the interrupt threshold, from 40H on the reset values",
     .needs = Feature::pebs},
    {.name = "IA32_DEBUGCTL",
     .text = "branch records, branch trace, and freezing at a PMI",
     .number = 0x1D9,
     .fields = debug_control,
     .source = debug,
     .reset = "0"},
    {.name = "IA32_MISC_ENABLE",
     .text = "enabled features of the processor; here: those that concern counters",
     .number = 0x1A0,
     .fields = misc_enable,
     .source = msrs,
     .others = OtherBits::other_uses},
    {.name = "LVT_PERFMON",
     .aliases = "LVT LVTPC",
     .text = "local APIC: the interrupt (PMI) of overflowing counters",
     .number = 0x834,
     .other_number = 0xFEE0'0340,
     .fields = local_vector,
     .source = {"Intel SDM vol. 3A", "Local Vector Table"},
     .width = 32,
     .reset = "00010000H: masked",
     .note = "MSR 834H in x2APIC mode, memory at FEE00340H in xAPIC mode",
     .summary = local_vector_summary},
    {.name = "MSR_PLATFORM_INFO",
     .text = "base frequency; other bits have other uses",
     .number = 0xCE,
     .fields = platform_info,
     .source = {"Intel SDM vol. 4", "model-specific tables, MSR_PLATFORM_INFO"},
     .access = Access::read_only,
     .others = OtherBits::other_uses},
    {.name = "MSR_PREFETCH_CONTROL",
     .aliases = "MSR_MISC_FEATURE_CONTROL",
     .text = "switches off hardware prefetchers, for all threads of the core",
     .number = 0x1A4,
     .fields = prefetch_control,
     .source = {"Intel SDM vol. 4", "model-specific tables, MSR_MISC_FEATURE_CONTROL and MSR_PREFETCH_CONTROL"},
     .reset = "0: all prefetchers are on",
     .note = "Nehalem and later; `tally watch --prefetchers off` and `tally memory --prefetchers off` write it",
     .others = OtherBits::model_specific},
    {.name = "MSR_OFFCORE_RSP_#",
     .aliases = "OFFCORE_RSP_#",
     .text = "which requests and responses OFFCORE_RESPONSE (B7H and BBH, umask 01H) counts",
     .number = 0x1A6,
     .fields = offcore_response,
     .source = {"Intel SDM vol. 3B", "Off-core Response Performance Monitoring"},
     .reset = "0",
     .note = "fields of Sandy Bridge to Broadwell; perf_event_open takes the value as config1",
     .others = OtherBits::model_specific,
     .count = 2},
    {.name = "IA32_PMC_GP#_CTR",
     .text = "general-purpose counter at its address of version 6",
     .number = 0x1900,
     .fields = counter_48,
     .source = v6,
     .reset = "0",
     .since = 6,
     .count = 10,
     .stride = 4},
    {.name = "IA32_PMC_GP#_CFG_A",
     .text = "IA32_PERFEVTSELn at its address of version 6",
     .number = 0x1901,
     .fields = event_select_fields,
     .source = v6,
     .reset = "0",
     .since = 6,
     .count = 10,
     .stride = 4,
     .summary = event_select_summary,
     .explain = event_select_reading},
    {.name = "IA32_PMC_GP#_CFG_B",
     .text = "which overflows reload this counter",
     .number = 0x1902,
     .fields = reload_mask,
     .source = linux_v6,
     .reset = "0",
     .since = 6,
     .count = 10,
     .stride = 4},
    {.name = "IA32_PMC_GP#_CFG_C",
     .text = "what this counter is reloaded with; other bits configure PEBS",
     .number = 0x1903,
     .fields = reload_value,
     .source = linux_v6,
     .reset = "0",
     .others = OtherBits::other_uses,
     .since = 6,
     .count = 10,
     .stride = 4},
    {.name = "IA32_PMC_FX#_CTR",
     .text = "fixed counter at its address of version 6",
     .number = 0x1980,
     .fields = counter_48,
     .source = v6,
     .reset = "0",
     .since = 6,
     .count = 7,
     .stride = 4},
    {.name = "IA32_PMC_FX#_CFG_B",
     .text = "which overflows reload this fixed counter",
     .number = 0x1982,
     .fields = reload_mask,
     .source = linux_v6,
     .reset = "0",
     .since = 6,
     .count = 7,
     .stride = 4},
    {.name = "IA32_PMC_FX#_CFG_C",
     .text = "what this fixed counter is reloaded with; other bits configure PEBS",
     .number = 0x1983,
     .fields = reload_value,
     .source = linux_v6,
     .reset = "0",
     .others = OtherBits::other_uses,
     .since = 6,
     .count = 7,
     .stride = 4},
    {.name = "RDPMC:ECX",
     .aliases = "RDPMC",
     .text = "which counter the instruction RDPMC reads",
     .space = Space::operand,
     .fields = rdpmc_operand,
     .source = rdpmc,
     .width = 32,
     .note = "#GP(0) at CPL > 0 where CR4.PCE is 0, and for a counter that does not exist",
     .summary = rdpmc_summary},
};

constexpr Version versions[] = {{1, "1"}, {2, "2"}, {3, "3"}, {4, "4"}, {5, "5"}, {6, "6"}};

}  // namespace

}  // namespace tally::pmu::intel

namespace tally::pmu {

const Model intel_model{"intel", "Intel architectural performance monitoring", intel::versions, intel::table,
                        intel::rules()};

}  // namespace tally::pmu
