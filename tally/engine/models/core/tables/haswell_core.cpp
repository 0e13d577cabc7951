// The core Haswell. Written by cores.py from LLVM's scheduling model and core_corrections.txt.
#include "tally/engine/models/core/tables/common_timings.hpp"

namespace tally::models {

// Ports. l: loads, s: stores, div and fdiv: dividers.
constexpr Ports l0 = 1 << 0;
constexpr Ports l1 = 1 << 1;
constexpr Ports s0 = 1 << 2;
constexpr Ports div = 1 << 3;
constexpr Ports fdiv = 1 << 4;
constexpr Ports p0 = 1 << 5;
constexpr Ports p1 = 1 << 6;
constexpr Ports p5 = 1 << 7;
constexpr Ports p6 = 1 << 8;

using enum Operation;

constexpr const char* llvm = "LLVM 19, llvm-mca -mcpu=haswell";
constexpr const char* source_1 = "Intel and AMD optimization manuals: done at renaming, or by the stack engine";
constexpr const char* source_2 = "Intel 64 and IA-32 Optimization Reference Manual, moves without latency";
constexpr const char* source_3 = "A. Fog, Instruction tables (2022-11-04); the middle if it states a range";
constexpr const char* source_4 = "an estimate: right in its order of magnitude";
constexpr const char* source_5 =
    "not checked for this core: measured on a Granite Rapids, 2026-11-28, cycles of unrolled copies against a chain of "
    "additions";

constexpr Timing rows[] = {
    {move, 0, 1, {}, source_1},
    {move_self, 1, 1, {{p0 | p1 | p5 | p6, 1}}, source_2},
    {extend, 1, 1, {{p0 | p1 | p5 | p6, 1}}, llvm},
    {extend_byte, 0, 1, {}, source_2},
    {extend_sign, 1, 1, {{p0 | p1 | p5 | p6, 1}}, llvm},
    {alu, 1, 1, {{p0 | p1 | p5 | p6, 1}}, llvm},
    {add_constant, 1, 1, {{p0 | p1 | p5 | p6, 1}}, llvm},
    {carry, 2, 2, {{p0 | p6, 2}, {p1 | p5, 1}}, llvm},
    {select, 2, 2, {{p0 | p1 | p5 | p6, 2}}, source_3},
    {select_unsigned, 3, 3, {{p0 | p6, 2}, {p1 | p5, 1}}, llvm},
    {select_signed, 2, 2, {{p0 | p1 | p5 | p6, 2}}, source_3},
    {set, 1, 1, {{p0 | p6, 1}}, llvm},
    {lea, 1, 1, {{p1 | p5, 1}}, llvm},
    {lea_constant, 1, 1, {{p1 | p5, 1}}, llvm},
    {lea_scaled, 1, 1, {{p1 | p5, 1}}, llvm},
    {lea_slow, 3, 1, {{p1, 1}}, source_3},
    {lea_slow_scaled, 3, 1, {{p1, 1}}, source_3},
    {lea_relative, 3, 1, {{p1, 1}}, source_3},
    {shift, 1, 1, {{p0 | p6, 1}}, llvm},
    {shift_by_register, 2, 3, {{p0 | p6, 2}, {p1 | p5, 1}}, source_3},
    {rotate_carry, 2, 3, {{p0 | p6, 2}, {p1 | p5, 1}}, llvm},
    {shift_double, 3, 1, {{p1, 1}}, llvm},
    {bit_test, 1, 1, {{p0 | p6, 1}}, llvm},
    {bit_set, 1, 1, {{p0 | p6, 1}}, llvm},
    {bit_test_memory, 5, 10, {{p0 | p1 | p5 | p6, 10}}, source_3},
    {bit_deposit, 3, 1, {{p1, 1}}, llvm},
    {bit_count, 3, 1, {{p1, 1}}, llvm},
    {bit_extract, 2, 2, {{p0 | p1 | p5 | p6, 2}}, llvm},
    {byte_swap, 1, 1, {{p1 | p5, 1}}, llvm},
    {byte_swap_wide, 2, 2, {{p0 | p1 | p5 | p6, 2}}, llvm},
    {multiply, 3, 1, {{p1, 1}}, llvm},
    {multiply_wide, 4, 2, {{p1 | p6, 2}}, llvm},
    {divide, 26, 10, {{div, 10}}, source_3},
    {divide_wide, 64, 36, {{div, 48}}, source_3},
    {divide_wide_signed, 71, 59, {{div, 52}}, source_3},
    {exchange, 2, 3, {{p0 | p1 | p5 | p6, 3}}, source_3},
    {locked, 14, 76, {}, source_3},
    {push, 0, 1, {}, source_3},
    {pop, 0, 1, {}, source_3},
    {jump, 1, 1, {{p0 | p6, 1}}, llvm},
    {jump_always, 1, 1, {{p6, 1}}, source_3},
    {call, 1, 2, {{p6, 1}}, source_3},
    {ret, 1, 2, {{p6, 1}}, source_3},
    {leave, 1, 3, {}, source_3},
    {vector_ones, 1, 1, {{p1 | p5, 1}}, llvm},
    {vector_integer, 1, 1, {{p1 | p5, 1}}, llvm},
    {vector_logic, 1, 1, {{p0 | p1 | p5, 1}}, llvm},
    {vector_blend_variable, 2, 2, {{p5, 2}}, llvm},
    {vector_shuffle, 1, 1, {{p5, 1}}, llvm},
    {vector_shuffle_bytes, 1, 1, {{p5, 1}}, llvm},
    {vector_insert_lane, 3, 1, {{p5, 1}}, llvm},
    {vector_shuffle_lanes, 3, 1, {{p5, 1}}, llvm},
    {vector_horizontal, 3, 3, {{p5, 2}, {p1, 1}}, llvm},
    {vector_shift_by_register, 4, 2, {{p0 | p5, 2}}, llvm},
    {vector_shift_variable, 3, 3, {{p0, 2}, {p5, 1}}, llvm},
    {vector_multiply, 5, 1, {{p0, 1}}, llvm},
    {vector_multiply_32, 10, 2, {{p0, 2}}, llvm},
    {vector_compare_64, 5, 1, {{p0, 1}}, llvm},
    {vector_sad, 5, 1, {{p0, 1}}, llvm},
    {vector_mpsad, 7, 3, {{p5, 2}, {p0, 1}}, llvm},
    {vector_test, 2, 2, {{p0 | p5, 2}}, llvm},
    {vector_mask, 3, 1, {{p0, 1}}, llvm},
    {vector_to_integer, 1, 1, {{p0, 1}}, llvm},
    {vector_extract, 2, 2, {{p0 | p5, 2}}, llvm},
    {vector_insert, 2, 2, {{p5, 2}}, llvm},
    {vector_string_explicit, 18, 8, {{p0, 4}, {p5, 3}, {p1 | p6, 1}}, llvm},
    {vector_string_implicit, 11, 3, {{p0, 3}}, llvm},
    {carryless_multiply, 11, 3, {{p0, 2}, {p5, 1}}, llvm},
    {aes, 7, 1, {{p5, 1}}, llvm},
    {aes_columns, 14, 2, {{p5, 2}}, llvm},
    {aes_key, 29, 11, {{p5, 8}, {p0, 3}, {p1, 1}}, llvm},
    {vector_ternary, 1, 1, {{p1 | p5, 1}}, llvm},
    {vector_permute_bytes, 3, 1, {{p5, 1}}, llvm},
    {vector_compress, 3, 1, {{p5, 1}}, llvm},
    {vector_narrow, 3, 1, {{p5, 1}}, llvm},
    {vector_compare_mask, 1, 1, {{p1 | p5, 1}}, llvm},
    {vector_count, 5, 1, {{p0, 1}}, llvm},
    {vector_conflict, 1, 1, {{p1 | p5, 1}}, llvm},
    {vector_zero_upper, 0, 4, {}, source_3},
    {mask_logic, 1, 1, {{p0 | p1 | p5, 1}}, llvm},
    {mask_arithmetic, 1, 1, {{p5, 1}}, llvm},
    {mask_test, 1, 1, {{p0 | p1 | p5, 1}}, llvm},
    {mask_move, 1, 1, {{p0 | p1 | p5 | p6, 1}}, llvm},
    {mask_to_integer, 1, 1, {{p0 | p1 | p5 | p6, 1}}, llvm},
    {gather, 12, 48, {{p5, 8}}, source_3},
    {sha1_rounds, 5, 1, {{p0, 1}}, llvm},
    {sha256_rounds, 5, 1, {{p0, 1}}, llvm},
    {sha_schedule, 5, 1, {{p0, 1}}, llvm},
    {string_move, 25, 100, {}, source_4},
    {string_store, 25, 100, {}, source_4},
    {string_compare, 50, 250, {}, source_4},
    {string_step, 1, 3, {{p0 | p1 | p5 | p6, 1}}, source_3},
    {fence, 12, 60, {}, source_5},
    {fence_full, 38, 190, {}, source_5},
    {pause, 10, 40, {}, source_3},
    {time_stamp, 29, 145, {}, source_5},
    {fp_add, 3, 1, {{p1, 1}}, llvm},
    {fp_multiply, 5, 1, {{p0 | p1, 1}}, llvm},
    {fp_fma, 5, 1, {{p0 | p1, 1}}, llvm},
    {fp_convert, 3, 1, {{p1, 1}}, llvm},
    {fp_convert_width, 2, 2, {{p0 | p5, 2}}, llvm},
    {fp_convert_general, 4, 2, {{p0 | p1, 2}}, llvm},
    {fp_round, 6, 2, {{p1, 2}}, source_3},
    {fp_approximate, 5, 1, {{p0, 1}}, llvm},
    {fp_divide_single, 13, 1, {{fdiv, 7}, {p0, 1}}, llvm},
    {fp_divide_single_wide, 21, 3, {{fdiv, 14}, {p0, 1}, {p1 | p5, 1}}, llvm},
    {fp_divide_double, 15, 1, {{fdiv, 11}}, source_3},
    {fp_divide_double_wide, 27, 3, {{fdiv, 22}}, source_3},
    {fp_root_single, 11, 1, {{fdiv, 7}, {p0, 1}}, llvm},
    {fp_root_single_wide, 21, 3, {{fdiv, 14}, {p0, 1}, {p1 | p5, 1}}, llvm},
    {fp_root_double, 16, 1, {{fdiv, 11}}, source_3},
    {fp_root_double_wide, 28, 3, {{fdiv, 22}}, source_3},
    {fp_horizontal, 5, 3, {{p5, 2}, {p1, 1}}, llvm},
    {fp_dot_single, 14, 4, {{p0, 2}, {p1 | p5, 2}}, llvm},
    {fp_dot_double, 9, 3, {{p0 | p1 | p5, 3}}, llvm},
    {x87_move, 1, 1, {{p0 | p1, 1}}, llvm},
    {x87_add, 3, 1, {{p1, 1}}, llvm},
    {x87_multiply, 5, 1, {{p0, 1}}, llvm},
    {x87_divide, 17, 1, {{fdiv, 13}}, source_3},
    {x87_root, 17, 1, {{fdiv, 13}}, source_3},
    {tile_move, 50, 16, {}, source_4},
    {tile_multiply, 50, 16, {}, source_4},
};

// Width, reorder buffer and loads: Intel 64 and IA-32 Architectures Optimization Reference Manual. Without fusion, as
// the loops of the RDPMC article behave on its machine. Schedulers: published sizes, checked on Zen 4; Zen 5: measured.
constinit const CoreTable haswell_core = {
    .name = "haswell",
    .width = 4,
    .rob = 192,
    .scheduler = 60,
    .load_latency = 5,
    .vector_load_latency = 6,
    .loads = l0 | l1,
    .vector_loads = l0 | l1,
    .stores = s0,
    .forward = 5,
    .forward_blocked = 12,
    .loads_extend = 2,
    .computes_constants = true,
    .access_bytes = 32,
    .store_bytes = 32,
    .mispredict = 22,
    .timings = by_operation(rows, common::rows),
};

}  // namespace tally::models
