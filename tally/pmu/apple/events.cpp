#include "tally/pmu/apple/events.hpp"

namespace tally::pmu::apple {
namespace {

constexpr std::uint16_t only_7 = 1 << 7;
constexpr std::uint16_t only_5_6_7 = 1 << 5 | 1 << 6 | 1 << 7;
constexpr std::uint16_t only_2_4_6 = 1 << 2 | 1 << 4 | 1 << 6;
constexpr std::uint16_t only_2_to_7 = 0xFC;

// Names: Linux's without their common prefix; the framework's without its typing mistake (isntruction). Counters: the
// newest Linux driver has 96H and 9BH on PMC7 only; older ones and others have them on PMC5 to 7, and the framework saw
// them although it could program PMC2 to 5 only.
constexpr Event table[] = {
    {0x01, "RETIRE_UOP", "retired_uops", only_7},
    {0x02, "CORE_ACTIVE_CYCLE", "cycle", any_counter | 1 << 0},
    {0x04, "L1I_TLB_FILL", ""},
    {0x05, "L1D_TLB_FILL", ""},
    {0x07, "MMU_TABLE_WALK_INSTRUCTION", ""},
    {0x08, "MMU_TABLE_WALK_DATA", ""},
    {0x0A, "L2_TLB_MISS_INSTRUCTION", ""},
    {0x0B, "L2_TLB_MISS_DATA", ""},
    {0x0D, "MMU_VIRTUAL_MEMORY_FAULT_NONSPEC", "MMU_miss"},
    {0x52, "SCHEDULE_UOP", "instruction_issue"},
    {0x53, "", "uops_int int_unit_uops"},
    {0x54, "", "uops_float_point float_point_unit_uops"},
    {0x55, "", "uops_load_and_store load_and_store_unit_uops"},
    {0x56, "", "int_unknown_uops"},
    {0x57, "", "float_point_unknown_uops"},
    {0x58, "", "load_and_store_unknown_uops"},
    {0x59, "", "unknown_int_count"},
    {0x5A, "", "unknown_load_and_store_count"},
    {0x5B, "", "unknown_float_point_count"},
    {0x6C, "INTERRUPT_PENDING", "interrupt_pending"},
    {0x70, "MAP_STALL_DISPATCH", "dispatch_stall"},
    {0x75, "MAP_REWIND", "scheduler_rewind"},
    {0x76, "MAP_STALL", "scheduler_stall"},
    {0x78, "", "unknown_fused_uops"},
    {0x7C, "MAP_INT_UOP", "int_unknown_unfused_uops"},
    {0x7D, "MAP_LDST_UOP", "load_and_store_unknown_unfused_uops"},
    {0x7E, "MAP_SIMD_UOP", "float_point_unknown_unfused_uops"},
    {0x7F, "", "int_unknown_deps"},
    {0x80, "", "load_and_store_unknown_deps"},
    {0x81, "", "float_point_unknown_deps"},
    {0x84, "FLUSH_RESTART_OTHER_NONSPEC", "pipeline_redirect"},
    {0x8C, "INST_ALL", "instruction_all", 1 << 7 | 1 << 1},
    {0x8D, "INST_BRANCH", "instruction_branch", only_5_6_7},
    {0x8E, "INST_BRANCH_CALL", "instruction_function_call", only_5_6_7},
    {0x8F, "INST_BRANCH_RET", "instruction_function_return", only_5_6_7},
    {0x90, "INST_BRANCH_TAKEN", "instruction_all_branch_taken", only_5_6_7},
    {0x93, "INST_BRANCH_INDIR", "", only_5_6_7},
    {0x94, "INST_BRANCH_COND", "instruction_branch_carry_is_clear", only_5_6_7},
    {0x95, "INST_INT_LD", "instruction_int_load", only_5_6_7},
    {0x96, "INST_INT_ST", "instruction_int_store", only_7, only_5_6_7},
    {0x97, "INST_INT_ALU", "instruction_int", only_7},
    {0x98, "INST_SIMD_LD", "instruction_float_point_load", only_5_6_7},
    {0x99, "INST_SIMD_ST", "instruction_float_point_store", only_5_6_7},
    {0x9A, "INST_SIMD_ALU", "instruction_neon_or_float_point", only_7},
    {0x9B, "INST_LDST", "instruction_load_and_store", only_7, only_5_6_7},
    {0x9C, "INST_BARRIER", "instruction_barrier", only_5_6_7},
    {0x9F, "UNKNOWN_9f", "", only_7},
    {0xA0, "L1D_TLB_ACCESS", ""},
    {0xA1, "L1D_TLB_MISS", ""},
    {0xA2, "L1D_CACHE_MISS_ST", ""},
    {0xA3, "L1D_CACHE_MISS_LD", ""},
    {0xA6, "LD_UNIT_UOP", ""},
    {0xA7, "ST_UNIT_UOP", ""},
    {0xA8, "L1D_CACHE_WRITEBACK", ""},
    {0xB1, "LDST_X64_UOP", ""},
    {0xB2, "LDST_XPG_UOP", ""},
    {0xB3, "ATOMIC_OR_EXCLUSIVE_SUCC", "atomic_or_exclusive_success"},
    {0xB4, "ATOMIC_OR_EXCLUSIVE_FAIL", "atomic_or_exclusive_fail"},
    {0xBF, "L1D_CACHE_MISS_LD_NONSPEC", "DCACHE_load_miss", only_5_6_7},
    {0xC0, "L1D_CACHE_MISS_ST_NONSPEC", "DCACHE_store_miss", only_5_6_7},
    {0xC1, "L1D_TLB_MISS_NONSPEC", "DTLB_miss", only_5_6_7},
    {0xC4, "ST_MEMORY_ORDER_VIOLATION_NONSPEC", "memory_order_violation", only_5_6_7},
    {0xC5, "BRANCH_COND_MISPRED_NONSPEC", "conditional_branch_misprediction", only_5_6_7},
    {0xC6, "BRANCH_INDIR_MISPRED_NONSPEC", "indirect_branch_misprediction", only_5_6_7},
    {0xC8, "BRANCH_RET_INDIR_MISPRED_NONSPEC", "", only_5_6_7},
    {0xCA, "BRANCH_CALL_INDIR_MISPRED_NONSPEC", "indirect_branch_misprediction", only_5_6_7},
    {0xCB, "BRANCH_MISPRED_NONSPEC", "branch_misprediction", only_5_6_7},
    {0xD3, "", "ICACHE_miss"},
    {0xD4, "L1I_TLB_MISS_DEMAND", "ITLB_miss"},
    {0xD6, "MAP_DISPATCH_BUBBLE", ""},
    {0xDB, "L1I_CACHE_MISS_DEMAND", ""},
    {0xDE, "FETCH_RESTART", "instruction_fetch_restart"},
    {0xE5, "ST_NT_UOP", ""},
    {0xE6, "LD_NT_UOP", ""},
    {0xE9, "", "int_unknown"},
    {0xED, "", "load_and_store_unknown"},
    {0xEE, "", "float_point_unknown"},
    {0xEF, "", "int_writes_unknown"},
    {0xF5, "UNKNOWN_f5", "", only_2_4_6},
    {0xF6, "UNKNOWN_f6", "", only_2_4_6},
    {0xF7, "UNKNOWN_f7", "", only_2_4_6},
    {0xF8, "UNKNOWN_f8", "", only_2_to_7},
    {0xFD, "UNKNOWN_fd", "", only_2_4_6},
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
