// The core Zen 5. Written by cores.py from LLVM's scheduling model and core_corrections.txt.
#include "tally/engine/models/core/tables/common_timings.hpp"

namespace tally::models {

// Ports. l: loads, s: stores, div and fdiv: dividers.
constexpr Ports l0 = 1 << 0;
constexpr Ports l1 = 1 << 1;
constexpr Ports l2 = 1 << 2;
constexpr Ports l3 = 1 << 3;
constexpr Ports alu0 = 1 << 4;
constexpr Ports alu1 = 1 << 5;
constexpr Ports alu2 = 1 << 6;
constexpr Ports alu3 = 1 << 7;
constexpr Ports alu4 = 1 << 8;
constexpr Ports alu5 = 1 << 9;
constexpr Ports div = 1 << 10;
constexpr Ports fdiv = 1 << 11;
constexpr Ports fp0 = 1 << 12;
constexpr Ports fp1 = 1 << 13;
constexpr Ports fp2 = 1 << 14;
constexpr Ports fp3 = 1 << 15;

using enum Operation;

constexpr const char* llvm = "LLVM 19, llvm-mca -mcpu=znver4, with the units of Zen 5";
constexpr const char* source_1 = "Intel and AMD optimization manuals: done at renaming, or by the stack engine";
constexpr const char* source_2 = "measured on an EPYC with Zen 5 cores, 2026-11-29, by bench_blocks with kernels.txt";
constexpr const char* source_3 =
    "not checked for this core: A. Fog, Instruction tables (2022-11-04); the middle if it states a range";
constexpr const char* source_4 = "an estimate: right in its order of magnitude";

constexpr Timing rows[] = {
    {move, 0, 1, {}, source_1},
    {move_self, 0, 1, {}, source_1},
    {extend, 1, 1, {{alu0 | alu1 | alu2 | alu3 | alu4 | alu5, 1}}, source_2},
    {extend_byte, 1, 1, {{alu0 | alu1 | alu2 | alu3 | alu4 | alu5, 1}}, source_2},
    {extend_sign, 1, 1, {{alu0 | alu1 | alu2 | alu3 | alu4 | alu5, 1}}, source_2},
    {alu, 1, 1, {{alu0 | alu1 | alu2 | alu3 | alu4 | alu5, 1}}, llvm},
    {add_constant, 1, 1, {{alu0 | alu1 | alu2 | alu3 | alu4 | alu5, 1}}, llvm},
    {carry, 1, 1, {{alu0 | alu1 | alu2 | alu3 | alu4 | alu5, 1}}, source_2},
    {select, 1, 1, {{alu0 | alu1 | alu2 | alu3, 1}}, source_2},
    {select_unsigned, 1, 1, {{alu0 | alu1 | alu2 | alu3, 2}}, source_2},
    {select_signed, 1, 1, {{alu0 | alu1 | alu2 | alu3, 2}}, source_2},
    {set, 1, 1, {{alu0 | alu1 | alu2 | alu3 | alu4 | alu5, 1}}, source_2},
    {lea, 1, 1, {{alu0 | alu1 | alu2 | alu3 | alu4 | alu5, 1}}, source_2},
    {lea_constant, 1, 1, {{alu0 | alu1 | alu2 | alu3 | alu4 | alu5, 1}}, source_2},
    {lea_scaled, 1, 1, {{alu0 | alu1 | alu2 | alu3 | alu4 | alu5, 1}}, source_2},
    {lea_slow, 2, 1, {{alu0 | alu1 | alu2 | alu3, 2}}, source_2},
    {lea_slow_scaled, 2, 1, {{alu0 | alu1 | alu2 | alu3, 2}}, source_2},
    {lea_relative, 1, 1, {{alu3 | alu4 | alu5, 1}}, source_2},
    {shift, 1, 1, {{alu3 | alu4 | alu5, 1}}, source_2},
    {shift_by_register, 1, 1, {{alu3 | alu4 | alu5, 1}}, source_2},
    {rotate_carry, 1, 1, {{alu3 | alu4 | alu5, 1}}, source_2},
    {shift_double, 2, 4, {{alu3 | alu4 | alu5, 3}}, source_2},
    {bit_test, 1, 1, {{alu3 | alu4 | alu5, 1}}, source_2},
    {bit_set, 2, 2, {{alu3, 1}}, source_2},
    {bit_test_memory, 3, 24, {}, source_2},
    {bit_deposit, 3, 1, {{alu3 | alu4 | alu5, 1}}, source_2},
    {bit_count, 1, 1, {{alu3 | alu4 | alu5, 1}}, source_2},
    {bit_extract, 1, 1, {{alu3 | alu4 | alu5, 1}}, source_2},
    {byte_swap, 1, 1, {{alu0 | alu1 | alu2 | alu3 | alu4 | alu5, 1}}, source_2},
    {byte_swap_wide, 1, 1, {{alu0 | alu1 | alu2 | alu3 | alu4 | alu5, 1}}, source_2},
    {multiply, 3, 1, {{alu0 | alu1 | alu2, 1}}, source_2},
    {multiply_wide, 3, 2, {{alu0 | alu1 | alu2, 2}}, source_2},
    {divide, 10, 2, {{div, 6}}, source_2},
    {divide_wide, 11, 2, {{div, 7}}, source_2},
    {divide_wide_signed, 11, 2, {{div, 7}}, source_2},
    {exchange, 0, 2, {}, source_1},
    {locked, 16, 160, {}, source_2},
    {push, 0, 1, {}, source_3},
    {pop, 0, 1, {{alu0 | alu1 | alu2 | alu3 | alu4, 2}}, source_2},
    {jump, 1, 1, {{alu3 | alu4 | alu5, 1}}, source_2},
    {jump_always, 1, 1, {{alu3 | alu4 | alu5, 1}}, source_2},
    {call, 1, 1, {{alu3 | alu4 | alu5, 1}}, source_2},
    {ret, 1, 1, {{alu3 | alu4 | alu5, 1}}, source_2},
    {leave, 1, 2, {}, source_2},
    {vector_ones, 1, 1, {{fp0 | fp1 | fp2 | fp3, 1}}, source_2},
    {vector_integer, 2, 1, {{fp0 | fp1 | fp2 | fp3, 1}}, source_2},
    {vector_logic, 2, 1, {{fp0 | fp1 | fp2 | fp3, 1}}, source_2},
    {vector_blend_variable, 2, 1, {{fp0 | fp1, 1}}, source_2},
    {vector_shuffle, 2, 1, {{fp0 | fp1 | fp2 | fp3, 1}}, source_2},
    {vector_shuffle_bytes, 2, 1, {{fp1 | fp2, 1}}, source_2},
    {vector_insert_lane, 2, 1, {{fp1 | fp2, 1}}, source_2},
    {vector_shuffle_lanes, 4, 1, {{fp1 | fp2, 1}}, source_2},
    {vector_horizontal, 4, 4, {{fp1 | fp2, 4}}, source_2},
    {vector_shift_by_register, 2, 1, {{fp1 | fp2, 1}}, source_2},
    {vector_shift_variable, 2, 1, {{fp1 | fp2, 1}}, source_2},
    {vector_multiply, 3, 1, {{fp0 | fp1, 1}}, source_2},
    {vector_multiply_32, 3, 1, {{fp0 | fp1, 1}}, source_2},
    {vector_compare_64, 2, 1, {{fp0 | fp1, 1}}, source_2},
    {vector_sad, 3, 1, {{fp0 | fp1, 1}}, source_2},
    {vector_mpsad, 5, 4, {{fp0 | fp1, 4}}, source_2},
    {vector_test, 7, 2, {{fp2 | fp3, 1}}, source_2},
    {vector_mask, 5, 1, {{fp2 | fp3, 1}}, source_2},
    {vector_to_integer, 4, 1, {{fp2 | fp3, 1}}, source_2},
    {vector_extract, 7, 2, {{fp1 | fp2, 1}, {fp2 | fp3, 1}}, source_2},
    {vector_insert, 4, 2, {{fp1 | fp2, 1}, {fp2 | fp3, 1}}, source_2},
    {vector_string_explicit, 11, 8, {{fp0 | fp1 | fp2 | fp3, 12}}, source_2},
    {vector_string_implicit, 10, 4, {{fp0 | fp1 | fp2 | fp3, 8}}, source_2},
    {carryless_multiply, 5, 4, {{fp0 | fp1, 4}}, source_2},
    {aes, 4, 1, {{fp0 | fp1, 1}}, source_2},
    {aes_columns, 4, 1, {{fp0 | fp1, 1}}, source_2},
    {aes_key, 4, 1, {{fp0 | fp1, 1}}, source_2},
    {vector_ternary, 2, 1, {{fp0 | fp2 | fp3, 1}}, source_2},
    {vector_permute_bytes, 5, 1, {{fp1 | fp2, 1}}, source_2},
    {vector_compress, 4, 2, {{fp1 | fp2, 2}}, source_2},
    {vector_narrow, 4, 1, {{fp1 | fp2, 1}}, source_2},
    {vector_compare_mask, 5, 1, {{fp0 | fp1, 1}}, source_2},
    {vector_count, 2, 1, {{fp0 | fp1, 1}}, source_2},
    {vector_conflict, 7, 4, {{fp1 | fp2, 2}}, source_2},
    {vector_zero_upper, 0, 8, {}, source_2},
    {mask_logic, 1, 1, {{fp2 | fp3, 1}}, source_2},
    {mask_arithmetic, 1, 1, {{fp2 | fp3, 1}}, source_2},
    {mask_test, 6, 1, {{fp2 | fp3, 1}}, source_2},
    {mask_move, 1, 1, {{fp2 | fp3, 1}}, source_2},
    {mask_to_integer, 5, 1, {{fp2 | fp3, 1}}, source_2},
    {gather, 15, 118, {}, source_2},
    {scatter, 15, 120, {}, source_4},
    {sha1_rounds, 6, 1, {{fp0 | fp1 | fp2 | fp3, 8}}, source_2},
    {sha256_rounds, 4, 1, {{fp0 | fp1 | fp2 | fp3, 8}}, source_2},
    {sha_schedule, 4, 2, {{fp0 | fp1 | fp2 | fp3, 4}}, source_2},
    {string_move, 15, 124, {}, source_2},
    {string_store, 17, 136, {}, source_2},
    {string_compare, 60, 480, {}, source_4},
    {string_step, 3, 23, {}, source_2},
    {fence, 11, 88, {}, source_2},
    {fence_full, 76, 608, {}, source_2},
    {pause, 95, 760, {}, source_2},
    {time_stamp, 38, 304, {}, source_2},
    {fp_add, 3, 1, {{fp2 | fp3, 1}}, source_2},
    {fp_multiply, 3, 1, {{fp0 | fp1, 1}}, source_2},
    {fp_fma, 4, 1, {{fp0 | fp1, 1}}, source_2},
    {fp_convert, 3, 1, {{fp2 | fp3, 1}}, source_2},
    {fp_convert_width, 3, 1, {{fp2 | fp3, 1}}, source_2},
    {fp_convert_general, 6, 2, {{fp2 | fp3, 1}}, source_2},
    {fp_round, 3, 1, {{fp2 | fp3, 1}}, source_2},
    {fp_approximate, 4, 1, {{fp0 | fp1, 1}}, source_2},
    {fp_divide_single, 10, 1, {{fdiv, 3}}, source_2},
    {fp_divide_single_wide, 10, 1, {{fdiv, 3}}, source_2},
    {fp_divide_double, 13, 1, {{fdiv, 4}}, source_2},
    {fp_divide_double_wide, 13, 1, {{fdiv, 4}}, source_2},
    {fp_root_single, 14, 1, {{fdiv, 5}}, source_2},
    {fp_root_single_wide, 14, 1, {{fdiv, 5}}, source_2},
    {fp_root_double, 20, 1, {{fdiv, 8}}, source_2},
    {fp_root_double_wide, 20, 1, {{fdiv, 8}}, source_2},
    {fp_horizontal, 5, 4, {{fp2 | fp3, 4}}, source_2},
    {fp_dot_single, 13, 8, {{fp0 | fp1, 8}}, source_2},
    {fp_dot_double, 8, 3, {{fp0 | fp1, 6}}, source_2},
    {x87_move, 1, 1, {{fp2 | fp3, 1}}, source_2},
    {x87_add, 6, 1, {{fp2 | fp3, 1}}, source_2},
    {x87_multiply, 6, 1, {{fp0 | fp1, 1}}, source_2},
    {x87_divide, 15, 1, {{fdiv, 6}}, source_2},
    {x87_root, 22, 1, {{fdiv, 9}}, source_4},
    {tile_move, 50, 16, {}, source_4},
    {tile_multiply, 50, 16, {}, source_4},
};

// Width, reorder buffer and loads: AMD, Software Optimization Guide for the AMD Zen5 Microarchitecture (58455), and
// measured on an EPYC with Zen 5 cores, 2026-11-29. Schedulers: published sizes, checked on Zen 4; Zen 5: measured.
constinit const CoreTable zen5_core = {
    .name = "zen5",
    .width = 8,
    .rob = 448,
    .scheduler = 224,
    .load_latency = 4,
    .vector_load_latency = 5,
    .loads = l0 | l1 | l2 | l3,
    .vector_loads = l1 | l2,
    .stores = l2 | l3,
    .index_latency = 1,
    .forward = 7,
    .vector_forward = 9,
    .forward_blocked = 14,
    .renames = Renames::all,
    .renamed_stores = 13,
    .loads_extend = 1,
    .shifts_keep_flags = false,
    .reissues = true,
    .adds_index_last = true,
    .add_to_add = 1,
    .stack_sync = 1,
    .fuses_moves = true,
    .computes_constants = true,
    .fuses = true,
    .fetch = 6,
    .fetches = 2,
    .indirect = 1,
    .returns = 4,
    .store_bytes = 32,
    .store_joins = true,
    .mispredict = 22,
    .wrong_target = 6,
    .waiting = 40,
    .timings = by_operation(rows, common::rows),
};

}  // namespace tally::models
