#include "tally/engine/models/core/haswell_core.hpp"

namespace tally::models {

namespace {

// The sources of the rows. The values are facts about the processor. If a source gives a range, as for divisions, whose
// time depends on the operands, the row has its mean.
constexpr const char* llvm = "LLVM 16, X86SchedHaswell.td (llvm-mca -mcpu=haswell)";
constexpr const char* fog = "A. Fog, Instruction tables (2022-11-04), Haswell";

constexpr std::uint16_t cycle = ticks_per_cycle;
using enum Operation;

// Slots are fused-domain micro-operations.
constexpr Timing rows[] = {
    {nop, 0, 1, Unit::none, 0, fog},
    {zeroing, 0, 1, Unit::none, 0, llvm},
    {move, 0, 1, Unit::none, 0, fog},  // 0 or 1: most are eliminated by register renaming
    {extend, 1, 1, Unit::none, 0, llvm},
    {alu, 1, 1, Unit::none, 0, llvm},
    {carry, 2, 2, Unit::none, 0, llvm},
    {select, 2, 2, Unit::none, 0, llvm},
    {set, 1, 1, Unit::none, 0, llvm},
    {lea, 1, 1, Unit::none, 0, llvm},
    {lea_slow, 3, 1, Unit::multiply, cycle, fog},
    {shift, 1, 1, Unit::none, 0, llvm},
    {shift_by_register, 2, 3, Unit::none, 0, fog},
    {rotate_carry, 2, 3, Unit::none, 0, llvm},
    {shift_double, 3, 1, Unit::multiply, cycle, llvm},
    {bit_test, 1, 1, Unit::none, 0, llvm},
    {bit_count, 3, 1, Unit::multiply, cycle, llvm},
    {bit_extract, 2, 2, Unit::none, 0, llvm},
    {byte_swap, 1, 1, Unit::none, 0, llvm},
    {byte_swap_wide, 2, 2, Unit::none, 0, llvm},
    {multiply, 3, 1, Unit::multiply, cycle, llvm},
    {multiply_wide, 4, 2, Unit::multiply, cycle, llvm},
    {divide, 26, 10, Unit::divide, 10 * cycle, fog},              // 22 to 29, one per 8 to 11
    {divide_wide, 64, 36, Unit::divide, 48 * cycle, fog},         // 32 to 96, one per 21 to 74
    {divide_wide_signed, 71, 59, Unit::divide, 52 * cycle, fog},  // 39 to 103, one per 24 to 81
    {exchange, 2, 3, Unit::none, 0, llvm},
    {locked, 19, 10, Unit::none, 0, fog},
    {push, 0, 1, Unit::none, 0, fog},
    {pop, 0, 1, Unit::none, 0, fog},
    {jump, 1, 1, Unit::none, 0, llvm},
    {call, 1, 2, Unit::none, 0, fog},
    {ret, 1, 2, Unit::none, 0, fog},
    {leave, 1, 3, Unit::none, 0, llvm},
    {vector_move, 0, 1, Unit::none, 0, fog},  // 0 or 1, as `move`
    {vector_integer, 1, 1, Unit::vector, cycle / 2, llvm},
    {vector_logic, 1, 1, Unit::none, 0, llvm},
    {vector_blend_variable, 2, 2, Unit::shuffle, 2 * cycle, llvm},
    {vector_shuffle, 1, 1, Unit::shuffle, cycle, llvm},
    {vector_shuffle_lanes, 3, 1, Unit::shuffle, cycle, llvm},
    {vector_horizontal, 3, 3, Unit::shuffle, 2 * cycle, llvm},
    {vector_shift_by_register, 2, 2, Unit::shuffle, cycle, llvm},
    {vector_shift_variable, 3, 3, Unit::shuffle, 2 * cycle, llvm},
    {vector_multiply, 5, 1, Unit::fp_multiply, cycle, llvm},
    {vector_multiply_32, 10, 2, Unit::fp_multiply, 2 * cycle, llvm},
    {vector_compare_64, 5, 1, Unit::fp_multiply, cycle, llvm},
    {vector_sad, 5, 1, Unit::fp_multiply, cycle, llvm},
    {vector_mpsad, 7, 3, Unit::shuffle, 2 * cycle, llvm},
    {vector_test, 2, 2, Unit::shuffle, cycle, llvm},
    {vector_mask, 3, 1, Unit::none, 0, llvm},
    {vector_to_integer, 1, 1, Unit::none, 0, llvm},
    {vector_extract, 2, 2, Unit::shuffle, cycle, llvm},
    {vector_insert, 2, 2, Unit::shuffle, 2 * cycle, llvm},
    {vector_string_explicit, 18, 8, Unit::shuffle, 4 * cycle, llvm},
    {vector_string_implicit, 11, 3, Unit::shuffle, 3 * cycle, llvm},
    {carryless_multiply, 11, 3, Unit::shuffle, 2 * cycle, llvm},
    {aes, 7, 1, Unit::shuffle, cycle, llvm},
    {aes_columns, 14, 2, Unit::shuffle, 2 * cycle, llvm},
    {aes_key, 29, 11, Unit::shuffle, 7 * cycle, llvm},
    {fp_add, 3, 1, Unit::fp_add, cycle, llvm},
    {fp_multiply, 5, 1, Unit::fp_multiply, cycle / 2, llvm},
    {fp_fma, 5, 1, Unit::fp_multiply, cycle / 2, llvm},
    {fp_convert, 3, 1, Unit::fp_add, cycle, llvm},
    {fp_convert_width, 4, 2, Unit::fp_add, cycle, llvm},
    {fp_round, 6, 2, Unit::fp_add, 2 * cycle, fog},
    {fp_approximate, 5, 1, Unit::fp_multiply, cycle, llvm},
    {fp_divide_single, 13, 1, Unit::divide, 7 * cycle, llvm},
    {fp_divide_single_wide, 21, 3, Unit::divide, 14 * cycle, llvm},
    {fp_divide_double, 15, 1, Unit::divide, 11 * cycle, fog},       // 10 to 20, one per 8 to 14
    {fp_divide_double_wide, 27, 3, Unit::divide, 22 * cycle, fog},  // 19 to 35, one per 16 to 28
    {fp_root_single, 11, 1, Unit::divide, 7 * cycle, llvm},
    {fp_root_single_wide, 21, 3, Unit::divide, 14 * cycle, llvm},
    {fp_root_double, 16, 1, Unit::divide, 11 * cycle, fog},  // one per 8 to 14
    {fp_root_double_wide, 28, 3, Unit::divide, 22 * cycle, fog},
    {fp_horizontal, 5, 3, Unit::shuffle, 2 * cycle, llvm},
    {fp_dot_single, 14, 4, Unit::shuffle, 2 * cycle, llvm},
    {fp_dot_double, 9, 3, Unit::shuffle, cycle, llvm},
    {x87_move, 1, 1, Unit::none, 0, llvm},
    {x87_add, 3, 1, Unit::fp_add, cycle, llvm},
    {x87_multiply, 5, 1, Unit::fp_multiply, cycle, llvm},
    {x87_divide, 17, 1, Unit::divide, 13 * cycle, fog},  // 10 to 24, one per 8 to 18
    {x87_root, 17, 1, Unit::divide, 13 * cycle, fog},
};

static_assert(sizeof rows / sizeof rows[0] == operations - 1, "one row for every kind");

}  // namespace

// Width 4, a reorder buffer of 192 micro-operations (48 cycles of 4), two loads and one store per cycle: Intel 64 and
// IA-32 Architectures Optimization Reference Manual, "Haswell microarchitecture". Loads: 4 cycles with a simple
// address, 5 with any other; vectors 6 (LLVM).
constinit const CoreTable haswell_core = {
    .name = "haswell",
    .width = 4,
    .window = 48,
    .load_latency = 5,
    .vector_load_latency = 6,
    .load_busy = cycle / 2,
    .store_busy = cycle,
    .timings = by_operation(rows),
};

}  // namespace tally::models
