// The core Golden Cove, also for Granite Rapids (Redwood Cove), which has no table of its own. Written by cores.py from
// LLVM's scheduling model and core_corrections.txt.
#include "tally/engine/models/core/tables/common_timings.hpp"

namespace tally::models {

// Ports. l: loads, s: stores, div and fdiv: dividers.
constexpr Ports l0 = 1 << 0;
constexpr Ports l1 = 1 << 1;
constexpr Ports l2 = 1 << 2;
constexpr Ports s0 = 1 << 3;
constexpr Ports s1 = 1 << 4;
constexpr Ports div = 1 << 5;
constexpr Ports fdiv = 1 << 6;
constexpr Ports p0 = 1 << 7;
constexpr Ports p1 = 1 << 8;
constexpr Ports p10 = 1 << 9;
constexpr Ports p5 = 1 << 10;
constexpr Ports p6 = 1 << 11;

using enum Operation;

constexpr const char* llvm = "LLVM 19, llvm-mca -mcpu=sapphirerapids";
constexpr const char* source_1 = "Intel and AMD optimization manuals: done at renaming, or by the stack engine";
constexpr const char* source_2 =
    "measured on a Granite Rapids, 2026-11-28, cycles of unrolled copies against a chain of additions";
constexpr const char* source_3 = "A. Abel and J. Reineke, uops.info: Ice Lake, Alder Lake-P (Golden Cove), Zen 3 and 4";
constexpr const char* source_4 =
    "not checked for this core: A. Fog, Instruction tables (2022-11-04); the middle if it states a range";
constexpr const char* source_5 = "an estimate: right in its order of magnitude";
constexpr const char* source_6 = "Intel 64 and IA-32 Optimization Reference Manual, AMX";

constexpr Timing rows[] = {
    {move, 0, 1, {}, source_1},
    {move_self, 1, 1, {{p0 | p1 | p5 | p6 | p10, 1}}, source_2},
    {extend, 1, 1, {{p0 | p1 | p10 | p5 | p6, 1}}, source_2},
    {extend_byte, 0, 1, {}, source_2},
    {extend_sign, 1, 1, {{p1 | p10 | p5, 1}}, source_2},
    {alu, 1, 1, {{p0 | p1 | p10 | p5 | p6, 1}}, source_2},
    {add_constant, 0, 1, {}, source_2},
    {carry, 1, 1, {{p0 | p6, 1}}, source_2},
    {select, 1, 1, {{p0 | p6, 1}}, source_2},
    {select_unsigned, 1, 1, {{p0 | p6, 1}}, llvm},
    {select_signed, 1, 1, {{p0 | p6, 1}}, source_2},
    {set, 1, 1, {{p0 | p6, 1}}, source_3},
    {lea, 1, 1, {{p0 | p1 | p5 | p6 | p10, 1}}, source_2},
    {lea_constant, 0, 1, {}, source_2},
    {lea_scaled, 2, 1, {{p0 | p5 | p6, 1}}, source_3},
    {lea_slow, 1, 1, {{p0 | p1 | p5 | p6 | p10, 1}}, source_2},
    {lea_slow_scaled, 2, 1, {{p0 | p5 | p6, 1}}, source_3},
    {lea_relative, 1, 1, {{p1, 1}}, llvm},
    {shift, 1, 1, {{p0 | p6, 1}}, source_2},
    {shift_by_register, 2, 2, {{p0 | p6, 2}}, llvm},
    {rotate_carry, 2, 3, {{p0 | p6, 2}, {p1 | p10 | p5, 1}}, llvm},
    {shift_double, 3, 1, {{p1, 1}}, llvm},
    {bit_test, 1, 1, {{p1, 1}}, source_2},
    {bit_set, 1, 1, {{p1, 1}}, llvm},
    {bit_test_memory, 11, 10, {{p1, 5}}, source_2},
    {bit_deposit, 3, 1, {{p1, 1}}, llvm},
    {bit_count, 3, 1, {{p1, 1}}, llvm},
    {bit_extract, 6, 2, {{p0 | p6, 1}, {p1, 1}}, llvm},
    {byte_swap, 1, 1, {{p1, 1}}, llvm},
    {byte_swap_wide, 2, 2, {{p0 | p6, 1}, {p1, 1}}, llvm},
    {multiply, 3, 1, {{p1, 1}}, llvm},
    {multiply_wide, 4, 2, {{p1 | p5, 2}}, llvm},
    {divide, 12, 4, {{div, 6}}, source_2},
    {divide_wide, 15, 4, {{div, 10}}, source_2},
    {divide_wide_signed, 15, 4, {{div, 10}}, source_2},
    {exchange, 0, 2, {}, source_1},
    {locked, 12, 108, {}, source_2},
    {push, 0, 1, {}, source_4},
    {pop, 0, 1, {}, source_4},
    {jump, 1, 1, {{p0 | p6, 1}}, llvm},
    {jump_always, 1, 1, {{p6, 1}}, source_4},
    {call, 1, 2, {{p6, 1}}, source_4},
    {ret, 1, 2, {{p6, 1}}, source_4},
    {leave, 1, 3, {}, source_4},
    {vector_ones, 1, 1, {{p0 | p1, 1}}, llvm},
    {vector_integer, 1, 1, {{p0 | p1 | p5, 1}}, llvm},
    {vector_logic, 1, 1, {{p0 | p1 | p5, 1}}, llvm},
    {vector_blend_variable, 3, 3, {{p0 | p1 | p5, 3}}, llvm},
    {vector_shuffle, 1, 1, {{p1 | p5, 1}}, llvm},
    {vector_shuffle_bytes, 1, 1, {{p1 | p5, 1}}, llvm},
    {vector_insert_lane, 3, 1, {{p5, 1}}, llvm},
    {vector_shuffle_lanes, 3, 1, {{p5, 1}}, llvm},
    {vector_horizontal, 2, 3, {{p1 | p5, 3}, {p0, 1}}, llvm},
    {vector_shift_by_register, 4, 2, {{p0 | p1, 1}, {p5, 1}}, llvm},
    {vector_shift_variable, 1, 1, {{p0 | p1, 1}}, llvm},
    {vector_multiply, 5, 1, {{p0 | p1, 1}}, llvm},
    {vector_multiply_32, 10, 2, {{p0 | p1, 2}}, llvm},
    {vector_compare_64, 3, 1, {{p5, 1}}, llvm},
    {vector_sad, 3, 1, {{p5, 1}}, llvm},
    {vector_mpsad, 4, 2, {{p5, 2}, {p1, 1}}, llvm},
    {vector_test, 4, 2, {{p0 | p5, 2}}, llvm},
    {vector_mask, 4, 1, {{p0, 1}}, llvm},
    {vector_to_integer, 3, 1, {{p0, 1}}, llvm},
    {vector_extract, 4, 2, {{p0, 1}, {p1 | p5, 1}}, llvm},
    {vector_insert, 4, 2, {{p5, 2}, {p1, 1}}, llvm},
    {vector_string_explicit, 16, 8, {{p0, 4}, {p1 | p5, 3}, {p6, 1}}, llvm},
    {vector_string_implicit, 11, 3, {{p0, 3}}, llvm},
    {carryless_multiply, 3, 1, {{p5, 1}}, source_2},
    {aes, 3, 1, {{p0 | p1, 1}}, source_2},
    {aes_columns, 8, 2, {{p0 | p1, 2}}, llvm},
    {aes_key, 7, 14, {{p0, 6}, {p5, 5}, {p1, 2}}, llvm},
    {vector_ternary, 1, 1, {{p0 | p1 | p5, 1}}, llvm},
    {vector_permute_bytes, 3, 1, {{p5, 1}}, llvm},
    {vector_compress, 6, 2, {{p5, 2}}, llvm},
    {vector_narrow, 4, 2, {{p5, 2}, {p1, 1}}, llvm},
    {vector_compare_mask, 3, 1, {{p5, 1}}, llvm},
    {vector_count, 4, 1, {{p0 | p1, 1}}, llvm},
    {vector_conflict, 17, 23, {{p5, 11}, {p0, 6}, {p1, 6}}, llvm},
    {vector_zero_upper, 0, 4, {}, source_4},
    {mask_logic, 1, 1, {{p0, 1}}, llvm},
    {mask_arithmetic, 4, 1, {{p5, 1}}, source_2},
    {mask_test, 3, 1, {{p0, 1}}, llvm},
    {mask_move, 1, 1, {{p0, 1}}, llvm},
    {mask_to_integer, 2, 1, {{p0, 1}}, source_2},
    {gather, 15, 12, {{p0 | p5, 4}, {l0 | l1, 8}}, source_2},
    {scatter, 15, 30, {{s0, 8}}, source_5},
    {sha1_rounds, 6, 1, {{p5, 1}}, llvm},
    {sha256_rounds, 4, 1, {{p5, 1}}, source_2},
    {sha_schedule, 6, 2, {{p5, 2}}, llvm},
    {string_move, 10, 60, {}, source_2},
    {string_store, 10, 60, {}, source_2},
    {string_compare, 50, 250, {}, source_5},
    {string_step, 1, 3, {{p0 | p1 | p5 | p6, 1}}, source_4},
    {fence, 12, 72, {}, source_2},
    {fence_full, 38, 228, {}, source_2},
    {pause, 34, 204, {}, source_2},
    {time_stamp, 29, 174, {}, source_2},
    {fp_add, 2, 1, {{p1 | p5, 1}}, source_2},
    {fp_multiply, 3, 1, {{p0 | p1, 1}}, source_2},
    {fp_fma, 4, 1, {{p0 | p1, 1}}, source_2},
    {fp_convert, 4, 1, {{p0 | p1, 1}}, llvm},
    {fp_convert_width, 5, 2, {{p0 | p1, 1}, {p5, 1}}, llvm},
    {fp_convert_general, 7, 2, {{p0, 1}, {p1 | p5, 1}}, source_3},
    {fp_round, 8, 2, {{p0 | p1, 2}}, llvm},
    {fp_approximate, 4, 1, {{p0, 1}}, llvm},
    {fp_divide_single, 11, 1, {{p0, 1}, {fdiv, 3}}, source_2},
    {fp_divide_single_wide, 11, 1, {{p0, 1}, {fdiv, 5}}, source_4},
    {fp_divide_double, 14, 1, {{p0, 1}, {fdiv, 4}}, source_2},
    {fp_divide_double_wide, 14, 1, {{p0, 1}, {fdiv, 8}}, source_4},
    {fp_root_single, 12, 1, {{p0, 1}, {fdiv, 3}}, source_2},
    {fp_root_single_wide, 12, 1, {{p0, 1}, {fdiv, 6}}, source_4},
    {fp_root_double, 18, 1, {{p0, 1}, {fdiv, 6}}, source_2},
    {fp_root_double_wide, 18, 1, {{p0, 1}, {fdiv, 9}}, source_2},
    {fp_horizontal, 5, 3, {{p5, 2}, {p1, 1}}, llvm},
    {fp_dot_single, 14, 6, {{p1 | p5, 4}, {p0, 2}, {p6, 1}}, llvm},
    {fp_dot_double, 9, 3, {{p1, 2}, {p0, 1}, {p5, 1}}, llvm},
    {x87_move, 1, 1, {{p0 | p1 | p5 | p6, 1}}, llvm},
    {x87_add, 3, 1, {{p5, 1}}, llvm},
    {x87_multiply, 4, 1, {{p0, 1}}, llvm},
    {x87_divide, 20, 1, {{p0, 1}}, llvm},
    {x87_root, 21, 1, {{p0, 1}}, llvm},
    {tile_move, 45, 8, {{l0 | l1, 16}}, source_6},
    {tile_multiply, 52, 1, {{p5, 16}}, source_6},
};

// Width, reorder buffer and loads: Intel 64 and IA-32 Architectures Optimization Reference Manual. Schedulers:
// published sizes, not checked except on Zen 4.
constinit const CoreTable sapphire_rapids_core = {
    .name = "sapphire-rapids",
    .width = 6,
    .rob = 512,
    .scheduler = 205,
    .load_latency = 5,
    .vector_load_latency = 7,
    .loads = l0 | l1 | l2,
    .vector_loads = l0 | l1 | l2,
    .stores = s0 | s1,
    .forward = 6,
    .forward_blocked = 17,
    .renames = Renames::without_index,
    .loads_extend = 1,
    .shifts_keep_flags = false,
    .computes_constants = true,
    .fuses = true,
    .fetch = 8,
    .loop_queue = 144,
    .mispredict = 24,
    .timings = by_operation(rows, common::rows),
};

}  // namespace tally::models
