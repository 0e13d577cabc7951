#include "tally/hardware/pmu/apple/apple_events.hpp"

namespace tally::pmu::apple {
namespace {

constexpr std::uint16_t only_7 = 1 << 7;
constexpr std::uint16_t only_5_6_7 = 1 << 5 | 1 << 6 | 1 << 7;
constexpr std::uint16_t only_2_4_6 = 1 << 2 | 1 << 4 | 1 << 6;
constexpr std::uint16_t only_2_to_7 = 0xFC;

// Names: Linux's without their common prefix; the framework's without its typing mistake (isntruction). Counters: the
// newest Linux driver counts 96H and 9BH on PMC7 only; older drivers and others on PMC5 to 7. The framework observed
// them although it could program only PMC2 to 5.
constexpr Event table[] = {
    {0x01, "RETIRE_UOP", "retired_uops", "micro-ops that retired", only_7},
    {0x02, "CORE_ACTIVE_CYCLE", "cycle", "cycles in which the core was active", any_counter | 1 << 0},
    {0x04, "L1I_TLB_FILL", "", "translations filled into the first-level instruction TLB"},
    {0x05, "L1D_TLB_FILL", "", "translations filled into the first-level data TLB"},
    {0x07, "MMU_TABLE_WALK_INSTRUCTION", "", "table walks for instructions"},
    {0x08, "MMU_TABLE_WALK_DATA", "", "table walks for data"},
    {0x0A, "L2_TLB_MISS_INSTRUCTION", "", "misses of the second-level TLB for instructions"},
    {0x0B, "L2_TLB_MISS_DATA", "", "misses of the second-level TLB for data"},
    {0x0D, "MMU_VIRTUAL_MEMORY_FAULT_NONSPEC", "MMU_miss", "translations of retired instructions that faulted"},
    {0x52, "SCHEDULE_UOP", "instruction_issue", "micro-ops that a scheduler issued"},
    {0x53, "", "uops_int int_unit_uops", "micro-ops of the integer units"},
    {0x54, "", "uops_float_point float_point_unit_uops", "micro-ops of the vector and floating-point units"},
    {0x55, "", "uops_load_and_store load_and_store_unit_uops", "micro-ops of the load and store units"},
    {0x56, "", "int_unknown_uops", ""},
    {0x57, "", "float_point_unknown_uops", ""},
    {0x58, "", "load_and_store_unknown_uops", ""},
    {0x59, "", "unknown_int_count", ""},
    {0x5A, "", "unknown_load_and_store_count", ""},
    {0x5B, "", "unknown_float_point_count", ""},
    {0x6C, "INTERRUPT_PENDING", "interrupt_pending", "cycles in which an interrupt was pending"},
    {0x70, "MAP_STALL_DISPATCH", "dispatch_stall", "cycles in which mapping waited for room in the schedulers"},
    {0x75, "MAP_REWIND", "scheduler_rewind", "cycles in which mapping was rewound"},
    {0x76, "MAP_STALL", "scheduler_stall", "cycles in which mapping stalled"},
    {0x78, "", "unknown_fused_uops", ""},
    {0x7C, "MAP_INT_UOP", "int_unknown_unfused_uops", "integer micro-ops that were mapped"},
    {0x7D, "MAP_LDST_UOP", "load_and_store_unknown_unfused_uops", "load and store micro-ops that were mapped"},
    {0x7E, "MAP_SIMD_UOP", "float_point_unknown_unfused_uops", "vector and floating-point micro-ops that were mapped"},
    {0x7F, "", "int_unknown_deps", ""},
    {0x80, "", "load_and_store_unknown_deps", ""},
    {0x81, "", "float_point_unknown_deps", ""},
    {0x84, "FLUSH_RESTART_OTHER_NONSPEC", "pipeline_redirect",
     "restarts of the pipeline for other reasons than a branch or memory order"},
    {0x8C, "INST_ALL", "instruction_all", "instructions that retired", 1 << 7 | 1 << 1},
    {0x8D, "INST_BRANCH", "instruction_branch", "branches that retired", only_5_6_7},
    {0x8E, "INST_BRANCH_CALL", "instruction_function_call", "calls that retired", only_5_6_7},
    {0x8F, "INST_BRANCH_RET", "instruction_function_return", "returns that retired", only_5_6_7},
    {0x90, "INST_BRANCH_TAKEN", "instruction_all_branch_taken", "branches that retired and were taken", only_5_6_7},
    {0x93, "INST_BRANCH_INDIR", "", "indirect branches that retired", only_5_6_7},
    {0x94, "INST_BRANCH_COND", "instruction_branch_carry_is_clear", "conditional branches that retired", only_5_6_7},
    {0x95, "INST_INT_LD", "instruction_int_load", "loads to general registers that retired", only_5_6_7},
    {0x96, "INST_INT_ST", "instruction_int_store", "stores of general registers that retired", only_7, only_5_6_7},
    {0x97, "INST_INT_ALU", "instruction_int", "integer instructions other than memory and branches that retired",
     only_7},
    {0x98, "INST_SIMD_LD", "instruction_float_point_load", "vector and floating-point loads that retired", only_5_6_7},
    {0x99, "INST_SIMD_ST", "instruction_float_point_store", "vector and floating-point stores that retired",
     only_5_6_7},
    {0x9A, "INST_SIMD_ALU", "instruction_neon_or_float_point",
     "vector and floating-point instructions other than memory that retired", only_7},
    {0x9B, "INST_LDST", "instruction_load_and_store", "loads and stores that retired", only_7, only_5_6_7},
    {0x9C, "INST_BARRIER", "instruction_barrier", "barriers that retired", only_5_6_7},
    {0x9F, "UNKNOWN_9f", "", "", only_7},
    {0xA0, "L1D_TLB_ACCESS", "", "accesses to the first-level data TLB"},
    {0xA1, "L1D_TLB_MISS", "", "misses of the first-level data TLB"},
    {0xA2, "L1D_CACHE_MISS_ST", "", "stores that missed the first-level data cache"},
    {0xA3, "L1D_CACHE_MISS_LD", "", "loads that missed the first-level data cache"},
    {0xA6, "LD_UNIT_UOP", "", "micro-ops of the load units"},
    {0xA7, "ST_UNIT_UOP", "", "micro-ops of the store units"},
    {0xA8, "L1D_CACHE_WRITEBACK", "", "lines written back from the first-level data cache"},
    {0xB1, "LDST_X64_UOP", "", "loads and stores that cross 64 bytes"},
    {0xB2, "LDST_XPG_UOP", "", "loads and stores that cross a page"},
    {0xB3, "ATOMIC_OR_EXCLUSIVE_SUCC", "atomic_or_exclusive_success", "atomic or exclusive accesses that succeeded"},
    {0xB4, "ATOMIC_OR_EXCLUSIVE_FAIL", "atomic_or_exclusive_fail", "atomic or exclusive accesses that failed"},
    {0xBF, "L1D_CACHE_MISS_LD_NONSPEC", "DCACHE_load_miss", "loads that retired and missed the first-level data cache",
     only_5_6_7},
    {0xC0, "L1D_CACHE_MISS_ST_NONSPEC", "DCACHE_store_miss",
     "stores that retired and missed the first-level data cache", only_5_6_7},
    {0xC1, "L1D_TLB_MISS_NONSPEC", "DTLB_miss", "loads and stores that retired and missed the first-level data TLB",
     only_5_6_7},
    {0xC4, "ST_MEMORY_ORDER_VIOLATION_NONSPEC", "memory_order_violation",
     "stores that were detected after a younger load of the same address", only_5_6_7},
    {0xC5, "BRANCH_COND_MISPRED_NONSPEC", "conditional_branch_misprediction",
     "conditional branches that were predicted wrongly", only_5_6_7},
    {0xC6, "BRANCH_INDIR_MISPRED_NONSPEC", "indirect_branch_misprediction",
     "indirect branches that were predicted wrongly", only_5_6_7},
    {0xC8, "BRANCH_RET_INDIR_MISPRED_NONSPEC", "", "returns that were predicted wrongly", only_5_6_7},
    {0xCA, "BRANCH_CALL_INDIR_MISPRED_NONSPEC", "indirect_branch_misprediction",
     "indirect calls that were predicted wrongly", only_5_6_7},
    {0xCB, "BRANCH_MISPRED_NONSPEC", "branch_misprediction", "branches that were predicted wrongly", only_5_6_7},
    {0xD3, "", "ICACHE_miss", "misses of the first-level instruction cache"},
    {0xD4, "L1I_TLB_MISS_DEMAND", "ITLB_miss", "demand misses of the first-level instruction TLB"},
    {0xD6, "MAP_DISPATCH_BUBBLE", "", "cycles in which no micro-op reached mapping"},
    {0xDB, "L1I_CACHE_MISS_DEMAND", "", "demand misses of the first-level instruction cache"},
    {0xDE, "FETCH_RESTART", "instruction_fetch_restart", "restarts of instruction fetch"},
    {0xE5, "ST_NT_UOP", "", "non-temporal stores"},
    {0xE6, "LD_NT_UOP", "", "non-temporal loads"},
    {0xE9, "", "int_unknown", ""},
    {0xED, "", "load_and_store_unknown", ""},
    {0xEE, "", "float_point_unknown", ""},
    {0xEF, "", "int_writes_unknown", ""},
    {0xF5, "UNKNOWN_f5", "", "", only_2_4_6},
    {0xF6, "UNKNOWN_f6", "", "", only_2_4_6},
    {0xF7, "UNKNOWN_f7", "", "", only_2_4_6},
    {0xF8, "UNKNOWN_f8", "", "", only_2_to_7},
    {0xFD, "UNKNOWN_fd", "", "", only_2_4_6},
};

}  // namespace

std::span<const Event> events() { return table; }

const Event* find_event(std::uint8_t code) {
  for (const Event& event : table) {
    if (event.code == code) return &event;
  }
  return nullptr;
}

}  // namespace tally::pmu::apple
