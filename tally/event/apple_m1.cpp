#include "tally/event/apple_m1.hpp"

#include <algorithm>
#include <iterator>

#include "tally/base/text.hpp"

namespace tally::event::apple_m1 {
namespace {

constexpr Counters usual = usual_counters;
constexpr Counters bit_0 = 1U << 0;
constexpr Counters bit_1 = 1U << 1;
constexpr Counters only_7 = 1U << 7;
constexpr Counters only_5_6_7 = 0xE0;
constexpr Counters only_2_4_6 = 0x54;
constexpr Counters only_2_to_7 = 0xFC;

// Linux's names and counters: drivers/perf/apple_m1_cpu_pmu.c at 0401bbf56da5. The other names: the M1 PMU framework
// (ChuhengZhou/M1_PMU_Experiments), whose own words for what it could not tell are kept in the name. Counters are
// found by experiment: an older driver and m1-pmu-gen place 96 and 9B on PMC5 to PMC7, and the framework, which could
// program PMC2 to PMC5 only, saw them count. What an event means is what its name says, in words.
constexpr Line table[] = {
    {0x01, "RETIRE_UOP", "retired_uops", only_7, 0, "micro-ops that retired"},
    {0x02, "CORE_ACTIVE_CYCLE", "cycle", usual | bit_0, 0, "cycles in which the core was active"},
    {0x04, "L1I_TLB_FILL", "", usual, 0, "translations filled into the first-level instruction TLB"},
    {0x05, "L1D_TLB_FILL", "", usual, 0, "translations filled into the first-level data TLB"},
    {0x07, "MMU_TABLE_WALK_INSTRUCTION", "", usual, 0, "table walks for instructions"},
    {0x08, "MMU_TABLE_WALK_DATA", "", usual, 0, "table walks for data"},
    {0x0A, "L2_TLB_MISS_INSTRUCTION", "", usual, 0, "misses of the second-level TLB for instructions"},
    {0x0B, "L2_TLB_MISS_DATA", "", usual, 0, "misses of the second-level TLB for data"},
    {0x0D, "MMU_VIRTUAL_MEMORY_FAULT_NONSPEC", "MMU_miss", usual, 0, "translations that faulted, of what retired"},
    {0x52, "SCHEDULE_UOP", "instruction_issue", usual, 0, "micro-ops that a scheduler issued"},
    {0x53, "", "uops_int int_unit_uops", usual, 0, "micro-ops of the integer units"},
    {0x54, "", "uops_float_point float_point_unit_uops", usual, 0, "micro-ops of the vector and floating-point units"},
    {0x55, "", "uops_load_and_store load_and_store_unit_uops", usual, 0, "micro-ops of the load and store units"},
    {0x56, "", "int_unknown_uops", usual, 0, ""},
    {0x57, "", "float_point_unknown_uops", usual, 0, ""},
    {0x58, "", "load_and_store_unknown_uops", usual, 0, ""},
    {0x59, "", "unknown_int_count", usual, 0, ""},
    {0x5A, "", "unknown_load_and_store_count", usual, 0, ""},
    {0x5B, "", "unknown_float_point_count", usual, 0, ""},
    {0x6C, "INTERRUPT_PENDING", "interrupt_pending", usual, 0, "cycles in which an interrupt was pending"},
    {0x70, "MAP_STALL_DISPATCH", "dispatch_stall", usual, 0,
     "cycles in which mapping waited for room in the schedulers"},
    {0x75, "MAP_REWIND", "scheduler_rewind", usual, 0, "cycles in which mapping was wound back"},
    {0x76, "MAP_STALL", "scheduler_stall", usual, 0, "cycles in which mapping stood still"},
    {0x78, "", "unknown_fused_uops", usual, 0, ""},
    {0x7C, "MAP_INT_UOP", "int_unknown_unfused_uops", usual, 0, "integer micro-ops that were mapped"},
    {0x7D, "MAP_LDST_UOP", "load_and_store_unknown_unfused_uops", usual, 0,
     "load and store micro-ops that were mapped"},
    {0x7E, "MAP_SIMD_UOP", "float_point_unknown_unfused_uops", usual, 0,
     "vector and floating-point micro-ops that were mapped"},
    {0x7F, "", "int_unknown_deps", usual, 0, ""},
    {0x80, "", "load_and_store_unknown_deps", usual, 0, ""},
    {0x81, "", "float_point_unknown_deps", usual, 0, ""},
    {0x84, "FLUSH_RESTART_OTHER_NONSPEC", "pipeline_redirect", usual, 0,
     "restarts of the pipeline for other reasons than a branch or memory order"},
    {0x8C, "INST_ALL", "instruction_all", only_7 | bit_1, 0, "instructions that retired"},
    {0x8D, "INST_BRANCH", "instruction_branch", only_5_6_7, 0, "branches that retired"},
    {0x8E, "INST_BRANCH_CALL", "instruction_function_call", only_5_6_7, 0, "calls that retired"},
    {0x8F, "INST_BRANCH_RET", "instruction_function_return", only_5_6_7, 0, "returns that retired"},
    {0x90, "INST_BRANCH_TAKEN", "instruction_all_branch_taken", only_5_6_7, 0, "branches that retired and were taken"},
    {0x93, "INST_BRANCH_INDIR", "", only_5_6_7, 0, "indirect branches that retired"},
    {0x94, "INST_BRANCH_COND", "instruction_branch_carry_is_clear", only_5_6_7, 0, "conditional branches that retired"},
    {0x95, "INST_INT_LD", "instruction_int_load", only_5_6_7, 0, "loads to general registers that retired"},
    {0x96, "INST_INT_ST", "instruction_int_store", only_7, only_5_6_7, "stores of general registers that retired"},
    {0x97, "INST_INT_ALU", "instruction_int", only_7, 0,
     "integer instructions other than memory and branches that retired"},
    {0x98, "INST_SIMD_LD", "instruction_float_point_load", only_5_6_7, 0,
     "vector and floating-point loads that retired"},
    {0x99, "INST_SIMD_ST", "instruction_float_point_store", only_5_6_7, 0,
     "vector and floating-point stores that retired"},
    {0x9A, "INST_SIMD_ALU", "instruction_neon_or_float_point", only_7, 0,
     "vector and floating-point instructions other than memory that retired"},
    {0x9B, "INST_LDST", "instruction_load_and_store", only_7, only_5_6_7, "loads and stores that retired"},
    {0x9C, "INST_BARRIER", "instruction_barrier", only_5_6_7, 0, "barriers that retired"},
    {0x9F, "UNKNOWN_9f", "", only_7, 0, ""},
    {0xA0, "L1D_TLB_ACCESS", "", usual, 0, "accesses to the first-level data TLB"},
    {0xA1, "L1D_TLB_MISS", "", usual, 0, "misses of the first-level data TLB"},
    {0xA2, "L1D_CACHE_MISS_ST", "", usual, 0, "stores that missed the first-level data cache"},
    {0xA3, "L1D_CACHE_MISS_LD", "", usual, 0, "loads that missed the first-level data cache"},
    {0xA6, "LD_UNIT_UOP", "", usual, 0, "micro-ops of the load units"},
    {0xA7, "ST_UNIT_UOP", "", usual, 0, "micro-ops of the store units"},
    {0xA8, "L1D_CACHE_WRITEBACK", "", usual, 0, "lines written back from the first-level data cache"},
    {0xB1, "LDST_X64_UOP", "", usual, 0, "loads and stores that cross 64 bytes"},
    {0xB2, "LDST_XPG_UOP", "", usual, 0, "loads and stores that cross a page"},
    {0xB3, "ATOMIC_OR_EXCLUSIVE_SUCC", "atomic_or_exclusive_success", usual, 0,
     "atomic or exclusive accesses that succeeded"},
    {0xB4, "ATOMIC_OR_EXCLUSIVE_FAIL", "atomic_or_exclusive_fail", usual, 0,
     "atomic or exclusive accesses that failed"},
    {0xBF, "L1D_CACHE_MISS_LD_NONSPEC", "DCACHE_load_miss", only_5_6_7, 0,
     "loads that retired and missed the first-level data cache"},
    {0xC0, "L1D_CACHE_MISS_ST_NONSPEC", "DCACHE_store_miss", only_5_6_7, 0,
     "stores that retired and missed the first-level data cache"},
    {0xC1, "L1D_TLB_MISS_NONSPEC", "DTLB_miss", only_5_6_7, 0,
     "loads and stores that retired and missed the first-level data TLB"},
    {0xC4, "ST_MEMORY_ORDER_VIOLATION_NONSPEC", "memory_order_violation", only_5_6_7, 0,
     "stores that came to light after a younger load of the same place"},
    {0xC5, "BRANCH_COND_MISPRED_NONSPEC", "conditional_branch_misprediction", only_5_6_7, 0,
     "conditional branches that were predicted wrongly"},
    {0xC6, "BRANCH_INDIR_MISPRED_NONSPEC", "indirect_branch_misprediction", only_5_6_7, 0,
     "indirect branches that were predicted wrongly"},
    {0xC8, "BRANCH_RET_INDIR_MISPRED_NONSPEC", "", only_5_6_7, 0, "returns that were predicted wrongly"},
    {0xCA, "BRANCH_CALL_INDIR_MISPRED_NONSPEC", "indirect_branch_misprediction", only_5_6_7, 0,
     "indirect calls that were predicted wrongly"},
    {0xCB, "BRANCH_MISPRED_NONSPEC", "branch_misprediction", only_5_6_7, 0, "branches that were predicted wrongly"},
    {0xD3, "", "ICACHE_miss", usual, 0, "misses of the first-level instruction cache"},
    {0xD4, "L1I_TLB_MISS_DEMAND", "ITLB_miss", usual, 0, "demand misses of the first-level instruction TLB"},
    {0xD6, "MAP_DISPATCH_BUBBLE", "", usual, 0, "cycles in which no micro-op reached mapping"},
    {0xDB, "L1I_CACHE_MISS_DEMAND", "", usual, 0, "demand misses of the first-level instruction cache"},
    {0xDE, "FETCH_RESTART", "instruction_fetch_restart", usual, 0, "restarts of instruction fetch"},
    {0xE5, "ST_NT_UOP", "", usual, 0, "non-temporal stores"},
    {0xE6, "LD_NT_UOP", "", usual, 0, "non-temporal loads"},
    {0xE9, "", "int_unknown", usual, 0, ""},
    {0xED, "", "load_and_store_unknown", usual, 0, ""},
    {0xEE, "", "float_point_unknown", usual, 0, ""},
    {0xEF, "", "int_writes_unknown", usual, 0, ""},
    {0xF5, "UNKNOWN_f5", "", only_2_4_6, 0, ""},
    {0xF6, "UNKNOWN_f6", "", only_2_4_6, 0, ""},
    {0xF7, "UNKNOWN_f7", "", only_2_4_6, 0, ""},
    {0xF8, "UNKNOWN_f8", "", only_2_to_7, 0, ""},
    {0xFD, "UNKNOWN_fd", "", only_2_4_6, 0, ""},
};

// The framework has two names for some events.
bool has_word(std::string_view words, std::string_view name) {
  const auto all = split(words, ' ');
  return std::any_of(all.begin(), all.end(),
                     [&](const std::string& word) { return !word.empty() && same_word(word, name); });
}

}  // namespace

std::span<const Line> lines() { return table; }

const Line* find(std::string_view name) {
  constexpr std::string_view prefix = "M1_PMU_PERFCTR_";
  if (name.size() > prefix.size() && same_word(name.substr(0, prefix.size()), prefix))
    name.remove_prefix(prefix.size());
  const auto line = std::find_if(std::begin(table), std::end(table), [&](const Line& one) {
    return has_word(one.linux_name, name) || has_word(one.framework_name, name);
  });
  return line == std::end(table) ? nullptr : line;
}

const Line* find(unsigned code) {
  const auto line = std::find_if(std::begin(table), std::end(table), [&](const Line& one) { return one.code == code; });
  return line == std::end(table) ? nullptr : line;
}

}  // namespace tally::event::apple_m1
