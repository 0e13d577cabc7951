// The names that other tools use for the generic events.
#include "tally/hardware/event/generic_events.hpp"

namespace tally::event {
namespace {

// perf: `perf list` and perf-list(1), "Hardware event" and "Hardware cache event". PAPI: its preset events with the
// same description. libpfm4: the PMU "perf", which contains the kernel's generic events. M1 PMU framework: its event
// 02H.
constexpr Alias alias_table[] = {
    {"branch-instructions", Id::branches, "perf"},
    {"branch-loads", Id::branches, "perf"},
    {"cpu-cycles", Id::cycles, "perf"},
    {"branch-load-misses", Id::branch_misses, "perf"},
    {"L1-dcache-loads", Id::loads, "perf"},
    {"L1-dcache-stores", Id::stores, "perf"},
    {"faults", Id::page_faults, "perf"},
    {"faults:u", Id::user_page_faults, "perf"},
    {"cs", Id::context_switches, "perf"},
    {"migrations", Id::cpu_migrations, "perf"},
    {"msr/tsc/", Id::tsc, "perf"},
    {"cycle", Id::cycles, "M1 PMU framework"},

    {"PAPI_TOT_INS", Id::instructions, "PAPI"},
    {"PAPI_BR_INS", Id::branches, "PAPI"},
    {"PAPI_BR_CN", Id::conditional_branches, "PAPI"},
    {"PAPI_BR_TKN", Id::conditional_taken, "PAPI"},
    {"PAPI_BR_NTK", Id::conditional_not_taken, "PAPI"},
    {"PAPI_BR_MSP", Id::branch_misses, "PAPI"},
    {"PAPI_TOT_CYC", Id::cycles, "PAPI"},
    {"PAPI_REF_CYC", Id::ref_cycles, "PAPI"},
    {"PAPI_LD_INS", Id::loads, "PAPI"},
    {"PAPI_SR_INS", Id::stores, "PAPI"},
    {"PAPI_L1_LDM", Id::l1d_load_misses, "PAPI"},
    {"PAPI_L1_STM", Id::l1d_store_misses, "PAPI"},
    {"PAPI_L1_ICM", Id::l1i_load_misses, "PAPI"},
    {"PAPI_L2_LDM", Id::l2_load_misses, "PAPI"},
    {"PAPI_L2_TCA", Id::l2_references, "PAPI"},
    {"PAPI_L2_TCM", Id::l2_misses, "PAPI"},
    {"PAPI_L3_LDM", Id::llc_load_misses, "PAPI"},
    {"PAPI_L3_TCA", Id::cache_references, "PAPI"},
    {"PAPI_L3_TCM", Id::cache_misses, "PAPI"},
    {"PAPI_TLB_IM", Id::itlb_load_misses, "PAPI"},
    {"PAPI_FP_OPS", Id::fp_operations, "PAPI"},
    {"PAPI_SP_OPS", Id::fp_operations_single, "PAPI"},
    {"PAPI_DP_OPS", Id::fp_operations_double, "PAPI"},
    {"PAPI_FP_INS", Id::fp_instructions, "PAPI"},
    {"PAPI_VEC_SP", Id::fp_instructions_single_packed, "PAPI"},
    {"PAPI_VEC_DP", Id::fp_instructions_double_packed, "PAPI"},
    {"PAPI_VEC_INS", Id::vector_instructions, "PAPI"},
    {"PAPI_FMA_INS", Id::fma_instructions, "PAPI"},
    {"FLOPS_SP", Id::fp_operations_single, "LIKWID"},
    {"FLOPS_DP", Id::fp_operations_double, "LIKWID"},
    {"flops", Id::fp_operations, "usage"},

    {"PERF_COUNT_HW_INSTRUCTIONS", Id::instructions, "libpfm4"},
    {"PERF_COUNT_HW_BRANCH_INSTRUCTIONS", Id::branches, "libpfm4"},
    {"PERF_COUNT_HW_BRANCH_MISSES", Id::branch_misses, "libpfm4"},
    {"PERF_COUNT_HW_CPU_CYCLES", Id::cycles, "libpfm4"},
    {"PERF_COUNT_HW_REF_CPU_CYCLES", Id::ref_cycles, "libpfm4"},
    {"PERF_COUNT_HW_CACHE_REFERENCES", Id::cache_references, "libpfm4"},
    {"PERF_COUNT_HW_CACHE_MISSES", Id::cache_misses, "libpfm4"},
    {"PERF_COUNT_SW_PAGE_FAULTS", Id::page_faults, "libpfm4"},
    {"PERF_COUNT_SW_PAGE_FAULTS_MIN", Id::minor_faults, "libpfm4"},
    {"PERF_COUNT_SW_PAGE_FAULTS_MAJ", Id::major_faults, "libpfm4"},
    {"PERF_COUNT_SW_CONTEXT_SWITCHES", Id::context_switches, "libpfm4"},
    {"PERF_COUNT_SW_CPU_MIGRATIONS", Id::cpu_migrations, "libpfm4"},
    {"PERF_COUNT_SW_TASK_CLOCK", Id::task_clock, "libpfm4"},
    {"PERF_COUNT_SW_CPU_CLOCK", Id::cpu_clock, "libpfm4"},
    {"PERF_COUNT_SW_ALIGNMENT_FAULTS", Id::alignment_faults, "libpfm4"},
    {"PERF_COUNT_SW_EMULATION_FAULTS", Id::emulation_faults, "libpfm4"},
    {"PERF_COUNT_SW_CGROUP_SWITCHES", Id::cgroup_switches, "libpfm4"},
};

}  // namespace

std::span<const Alias> aliases() { return alias_table; }

}  // namespace tally::event
