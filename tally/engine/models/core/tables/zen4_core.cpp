// The core Zen 4. Written by cores.py from LLVM's scheduling model and core_corrections.txt.
#include "tally/engine/models/core/tables/common_timings.hpp"

namespace tally::models {

// Ports. l: loads, s: stores, div and fdiv: dividers.
constexpr Ports l0 = 1 << 0;
constexpr Ports l1 = 1 << 1;
constexpr Ports l2 = 1 << 2;
constexpr Ports s0 = 1 << 3;
constexpr Ports s1 = 1 << 4;
constexpr Ports alu0 = 1 << 5;
constexpr Ports alu1 = 1 << 6;
constexpr Ports alu2 = 1 << 7;
constexpr Ports alu3 = 1 << 8;
constexpr Ports bru1 = 1 << 9;
constexpr Ports div = 1 << 10;
constexpr Ports fdiv = 1 << 11;
constexpr Ports fp0 = 1 << 12;
constexpr Ports fp1 = 1 << 13;
constexpr Ports fp2 = 1 << 14;
constexpr Ports fp3 = 1 << 15;

using enum Operation;

constexpr const char* llvm = "LLVM 19, llvm-mca -mcpu=znver4";
constexpr const char* source_1 = "Intel and AMD optimization manuals: done at renaming, or by the stack engine";
constexpr const char* source_2 = "measured on an EPYC with Zen 4 cores, 2026-11-29, by bench_blocks with kernels.txt";
constexpr const char* source_3 = "an estimate: right in its order of magnitude";
constexpr const char* source_4 =
    "not checked for this core: A. Fog, Instruction tables (2022-11-04); the middle if it states a range";

constexpr Timing rows[] = {
    {move, 0, 1, {}, source_1},
    {move_self, 0, 1, {}, source_1},
    {extend, 1, 1, {{alu0 | alu1 | alu2 | alu3, 1}}, source_2},
    {extend_byte, 1, 1, {{alu0 | alu1 | alu2 | alu3, 1}}, source_2},
    {extend_sign, 1, 1, {{alu0 | alu1 | alu2 | alu3, 1}}, source_2},
    {alu, 1, 1, {{alu0 | alu1 | alu2 | alu3, 1}}, llvm},
    {add_constant, 1, 1, {{alu0 | alu1 | alu2 | alu3, 1}}, llvm},
    {carry, 1, 1, {{alu0 | alu1 | alu2 | alu3, 1}}, source_2},
    {select, 1, 1, {{alu0 | alu3, 1}}, source_2},
    {select_unsigned, 1, 1, {{alu0 | alu3, 1}}, source_2},
    {select_signed, 1, 1, {{alu0 | alu3, 1}}, source_2},
    {set, 1, 1, {{alu0 | alu3, 1}}, source_2},
    {lea, 1, 1, {{alu0 | alu1 | alu2 | alu3, 1}}, source_2},
    {lea_constant, 1, 1, {{alu0 | alu1 | alu2 | alu3, 1}}, source_2},
    {lea_scaled, 1, 1, {{alu0 | alu1 | alu2 | alu3, 1}}, source_2},
    {lea_slow, 2, 1, {{alu0 | alu1 | alu2 | alu3, 2}}, source_2},
    {lea_slow_scaled, 2, 1, {{alu0 | alu1 | alu2 | alu3, 2}}, source_2},
    {lea_relative, 1, 1, {{alu0 | alu1 | alu2 | alu3, 1}}, source_3},
    {shift, 1, 1, {{alu1 | alu2, 1}}, llvm},
    {shift_by_register, 1, 1, {{alu1 | alu2, 1}}, llvm},
    {rotate_carry, 1, 1, {{alu1 | alu2, 1}}, source_2},
    {shift_double, 2, 4, {{alu1 | alu2, 3}}, source_2},
    {bit_test, 1, 1, {{alu1 | alu2, 1}}, source_2},
    {bit_set, 2, 2, {{alu1 | alu2, 2}}, source_2},
    {bit_test_memory, 3, 18, {}, source_2},
    {bit_deposit, 3, 1, {{alu1, 1}}, source_2},
    {bit_count, 1, 1, {{alu0 | alu1 | alu2 | alu3, 1}}, source_4},
    {bit_extract, 1, 1, {{alu1 | alu2, 1}}, llvm},
    {byte_swap, 1, 1, {{alu0 | alu1 | alu2 | alu3, 1}}, llvm},
    {byte_swap_wide, 1, 1, {{alu0 | alu1 | alu2 | alu3, 1}}, llvm},
    {multiply, 3, 1, {{alu1, 1}}, llvm},
    {multiply_wide, 3, 2, {{alu1, 2}}, source_2},
    {divide, 10, 2, {{div, 6}}, source_2},
    {divide_wide, 12, 2, {{div, 8}}, source_2},
    {divide_wide_signed, 12, 2, {{div, 8}}, source_2},
    {exchange, 0, 2, {}, source_1},
    {locked, 8, 42, {}, source_2},
    {push, 0, 1, {{alu2 | alu3, 1}}, source_2},
    {pop, 0, 1, {{alu2 | alu3, 1}}, source_2},
    {jump, 1, 1, {{alu0 | bru1, 1}}, llvm},
    {jump_always, 1, 1, {{bru1, 1}}, source_2},
    {call, 1, 2, {{bru1, 2}}, source_2},
    {ret, 1, 2, {{bru1, 2}}, source_2},
    {leave, 1, 3, {}, source_4},
    {vector_ones, 1, 1, {{fp0 | fp1 | fp2 | fp3, 1}}, source_2},
    {vector_integer, 1, 1, {{fp0 | fp1 | fp2 | fp3, 1}}, llvm},
    {vector_logic, 1, 1, {{fp0 | fp1 | fp2 | fp3, 1}}, llvm},
    {vector_blend_variable, 1, 1, {{fp0 | fp3, 1}}, llvm},
    {vector_shuffle, 1, 1, {{fp1 | fp2, 1}}, source_4},
    {vector_shuffle_bytes, 2, 1, {{fp1 | fp2, 1}}, source_2},
    {vector_insert_lane, 1, 1, {{fp1 | fp2, 1}}, source_2},
    {vector_shuffle_lanes, 4, 1, {{fp1, 1}}, source_2},
    {vector_horizontal, 3, 3, {{fp0, 3}}, llvm},
    {vector_shift_by_register, 2, 1, {{fp1 | fp2, 1}}, source_4},
    {vector_shift_variable, 1, 1, {{fp1 | fp2, 1}}, llvm},
    {vector_multiply, 3, 1, {{fp0 | fp3, 1}}, llvm},
    {vector_multiply_32, 3, 1, {{fp0 | fp3, 1}}, llvm},
    {vector_compare_64, 2, 1, {{fp0 | fp1 | fp2 | fp3, 1}}, source_2},
    {vector_sad, 3, 1, {{fp0 | fp1 | fp2 | fp3, 2}}, llvm},
    {vector_mpsad, 4, 3, {{fp0 | fp1 | fp2 | fp3, 8}}, llvm},
    {vector_test, 5, 2, {{fp1 | fp2, 1}}, source_2},
    {vector_mask, 4, 1, {{fp2, 1}}, source_2},
    {vector_to_integer, 3, 1, {{fp2, 1}}, source_2},
    {vector_extract, 4, 2, {{fp1 | fp2, 1}, {fp2, 1}}, source_4},
    {vector_insert, 4, 2, {{fp1 | fp2, 1}, {fp2, 1}}, source_4},
    {vector_string_explicit, 6, 8, {{fp0 | fp1 | fp2 | fp3, 12}}, llvm},
    {vector_string_implicit, 2, 4, {{fp0 | fp1 | fp2 | fp3, 8}}, llvm},
    {carryless_multiply, 4, 4, {{fp0 | fp1, 2}}, source_2},
    {aes, 4, 1, {{fp0 | fp1, 1}}, source_2},
    {aes_columns, 4, 1, {{fp0 | fp1, 1}}, llvm},
    {aes_key, 4, 1, {{fp0 | fp1, 1}}, llvm},
    {vector_ternary, 1, 1, {{fp0 | fp1 | fp2 | fp3, 1}}, source_2},
    {vector_permute_bytes, 5, 1, {{fp1 | fp2, 2}}, source_2},
    {vector_compress, 4, 1, {{fp1 | fp2, 2}}, llvm},
    {vector_narrow, 4, 1, {{fp1 | fp2, 1}}, source_2},
    {vector_compare_mask, 4, 1, {{fp0 | fp1 | fp2 | fp3, 1}}, source_2},
    {vector_count, 2, 1, {{fp0 | fp1, 2}}, llvm},
    {vector_conflict, 6, 4, {{fp1 | fp2, 4}, {fp0 | fp3, 2}}, llvm},
    {vector_zero_upper, 0, 6, {}, source_2},
    {mask_logic, 1, 1, {{fp2 | fp3, 1}}, llvm},
    {mask_arithmetic, 1, 1, {{fp1 | fp2, 1}}, source_2},
    {mask_test, 6, 1, {{fp2 | fp3, 1}}, source_2},
    {mask_move, 1, 1, {{fp2 | fp3, 1}}, llvm},
    {mask_to_integer, 5, 1, {{fp2 | fp3, 1}}, source_2},
    {gather, 11, 66, {}, source_2},
    {scatter, 15, 90, {}, source_3},
    {sha1_rounds, 6, 1, {{fp0 | fp1 | fp2 | fp3, 8}}, llvm},
    {sha256_rounds, 4, 1, {{fp0 | fp1 | fp2 | fp3, 8}}, source_2},
    {sha_schedule, 3, 4, {{fp0 | fp1 | fp2 | fp3, 8}}, llvm},
    {string_move, 14, 84, {}, source_2},
    {string_store, 9, 54, {}, source_2},
    {string_compare, 60, 360, {}, source_2},
    {string_step, 3, 18, {}, source_2},
    {fence, 17, 100, {}, source_2},
    {fence_full, 58, 348, {}, source_2},
    {pause, 90, 540, {}, source_2},
    {time_stamp, 35, 210, {}, source_2},
    {fp_add, 3, 1, {{fp2 | fp3, 1}}, llvm},
    {fp_multiply, 3, 1, {{fp0 | fp1, 1}}, llvm},
    {fp_fma, 4, 1, {{fp0 | fp1, 1}}, llvm},
    {fp_convert, 3, 1, {{fp2 | fp3, 1}}, llvm},
    {fp_convert_width, 3, 1, {{fp2 | fp3, 1}}, llvm},
    {fp_convert_general, 6, 2, {{fp2, 1}}, source_2},
    {fp_round, 3, 1, {{fp2 | fp3, 1}}, llvm},
    {fp_approximate, 4, 1, {{fp0 | fp1, 1}}, llvm},
    {fp_divide_single, 11, 1, {{fdiv, 3}}, source_2},
    {fp_divide_single_wide, 11, 1, {{fdiv, 3}}, source_2},
    {fp_divide_double, 13, 1, {{fdiv, 5}}, source_2},
    {fp_divide_double_wide, 13, 1, {{fdiv, 5}}, source_4},
    {fp_root_single, 15, 1, {{fp1, 5}}, llvm},
    {fp_root_single_wide, 15, 1, {{fp1, 5}}, llvm},
    {fp_root_double, 21, 1, {{fdiv, 9}}, source_2},
    {fp_root_double_wide, 21, 1, {{fdiv, 9}}, source_2},
    {fp_horizontal, 4, 3, {{fp2, 2}}, llvm},
    {fp_dot_single, 11, 8, {{fp0 | fp1, 8}}, llvm},
    {fp_dot_double, 7, 3, {{fp0 | fp1, 6}}, llvm},
    {x87_move, 1, 1, {{alu0 | alu1 | alu2 | alu3, 4}}, llvm},
    {x87_add, 7, 1, {{fp2 | fp3, 1}}, source_2},
    {x87_multiply, 7, 1, {{fp0 | fp1, 1}}, source_2},
    {x87_divide, 15, 1, {{fdiv, 6}}, source_2},
    {x87_root, 22, 1, {{fp1, 23}}, llvm},
    {tile_move, 50, 16, {}, source_3},
    {tile_multiply, 50, 16, {}, source_3},
};

// Width, reorder buffer and loads: A. Fog, The microarchitecture of Intel, AMD and VIA CPUs. Schedulers: published
// sizes, not checked except on Zen 4.
constinit const CoreTable zen4_core = {
    .name = "zen4",
    .width = 6,
    .rob = 320,
    .scheduler = 96,
    .load_latency = 4,
    .vector_load_latency = 7,
    .loads = l0 | l1 | l2,
    .vector_loads = l0 | l1,
    .stores = s0 | s1,
    .forward = 7,
    .forward_blocked = 19,
    .renames = Renames::moves,
    .loads_extend = 2,
    .shifts_keep_flags = false,
    .computes_constants = true,
    .fuses = true,
    .fetch = 8,
    .indirect = 3,
    .access_bytes = 32,
    .store_bytes = 32,
    .store_merges = true,
    .mispredict = 20,
    .waiting = 28,
    .timings = by_operation(rows, common::rows),
};

}  // namespace tally::models
