// The core Zen 2. Written by cores.py from LLVM's scheduling model and core_corrections.txt.
#include "tally/engine/models/core/tables/common_timings.hpp"

namespace tally::models {

// Ports. l: loads, s: stores, div and fdiv: dividers.
constexpr Ports l0 = 1 << 0;
constexpr Ports l1 = 1 << 1;
constexpr Ports s0 = 1 << 2;
constexpr Ports alu0 = 1 << 3;
constexpr Ports alu1 = 1 << 4;
constexpr Ports alu2 = 1 << 5;
constexpr Ports alu3 = 1 << 6;
constexpr Ports div = 1 << 7;
constexpr Ports fp0 = 1 << 8;
constexpr Ports fp1 = 1 << 9;
constexpr Ports fp2 = 1 << 10;
constexpr Ports fp3 = 1 << 11;

using enum Operation;

constexpr const char* llvm = "LLVM 19, llvm-mca -mcpu=znver2";
constexpr const char* source_1 = "LLVM 19, llvm-mca -mcpu=znver3";
constexpr const char* source_2 = "Intel and AMD optimization manuals: done at renaming, or by the stack engine";
constexpr const char* source_3 =
    "not checked for this core: measured on an EPYC with Zen 4 cores, 2026-11-29, by bench_blocks with kernels.txt";
constexpr const char* source_4 =
    "not checked for this core: A. Fog, Instruction tables (2022-11-04); the middle if it states a range";
constexpr const char* source_5 = "an estimate: right in its order of magnitude";

constexpr Timing rows[] = {
    {move, 0, 1, {}, source_2},
    {move_self, 0, 1, {}, source_2},
    {extend, 1, 1, {{alu0 | alu1 | alu2 | alu3, 1}}, llvm},
    {extend_byte, 1, 1, {{alu0 | alu1 | alu2 | alu3, 1}}, llvm},
    {extend_sign, 1, 1, {{alu0 | alu1 | alu2 | alu3, 1}}, llvm},
    {alu, 1, 1, {{alu0 | alu1 | alu2 | alu3, 1}}, llvm},
    {add_constant, 1, 1, {{alu0 | alu1 | alu2 | alu3, 1}}, llvm},
    {carry, 1, 1, {{alu0 | alu1 | alu2 | alu3, 1}}, llvm},
    {select, 1, 1, {{alu0 | alu1 | alu2 | alu3, 1}}, llvm},
    {select_unsigned, 1, 1, {{alu0 | alu1 | alu2 | alu3, 1}}, llvm},
    {select_signed, 1, 1, {{alu0 | alu1 | alu2 | alu3, 1}}, llvm},
    {set, 1, 1, {{alu0 | alu1 | alu2 | alu3, 1}}, llvm},
    {lea, 1, 1, {{alu0 | alu1 | alu2 | alu3, 1}}, llvm},
    {lea_constant, 1, 1, {{alu0 | alu1 | alu2 | alu3, 1}}, llvm},
    {lea_scaled, 1, 1, {{alu0 | alu1 | alu2 | alu3, 1}}, llvm},
    {lea_slow, 1, 1, {{alu0 | alu1 | alu2 | alu3, 1}}, llvm},
    {lea_slow_scaled, 1, 1, {{alu0 | alu1 | alu2 | alu3, 1}}, llvm},
    {lea_relative, 1, 1, {{alu0 | alu1 | alu2 | alu3, 1}}, llvm},
    {shift, 1, 1, {{alu0 | alu1 | alu2 | alu3, 1}}, llvm},
    {shift_by_register, 1, 1, {{alu0 | alu1 | alu2 | alu3, 1}}, llvm},
    {rotate_carry, 1, 1, {{alu0 | alu1 | alu2 | alu3, 1}}, llvm},
    {shift_double, 1, 1, {{alu0 | alu1 | alu2 | alu3, 1}}, llvm},
    {bit_test, 1, 1, {{alu0 | alu1 | alu2 | alu3, 1}}, llvm},
    {bit_set, 2, 2, {{alu1 | alu2, 2}}, source_3},
    {bit_test_memory, 5, 2, {{alu0 | alu1 | alu2 | alu3, 1}}, llvm},
    {bit_deposit, 3, 1, {{alu1, 1}}, source_1},
    {bit_count, 1, 1, {{alu0 | alu1 | alu2 | alu3, 1}}, source_4},
    {bit_extract, 1, 1, {{alu0 | alu1 | alu2 | alu3, 1}}, llvm},
    {byte_swap, 1, 1, {{alu0 | alu1 | alu2 | alu3, 1}}, source_4},
    {byte_swap_wide, 1, 1, {{alu0 | alu1 | alu2 | alu3, 1}}, source_4},
    {multiply, 3, 1, {{alu1, 1}}, source_4},
    {multiply_wide, 4, 2, {{alu1, 1}}, llvm},
    {divide, 16, 2, {{div, 12}}, source_4},
    {divide_wide, 30, 2, {{div, 24}}, source_4},
    {divide_wide_signed, 30, 2, {{div, 24}}, source_4},
    {exchange, 0, 2, {}, source_2},
    {locked, 8, 42, {}, source_3},
    {push, 0, 1, {}, source_4},
    {pop, 0, 1, {}, source_4},
    {jump, 1, 1, {{alu0 | alu1 | alu2 | alu3, 1}}, llvm},
    {jump_always, 1, 1, {{alu0 | alu1 | alu2 | alu3, 1}}, llvm},
    {call, 1, 2, {}, source_4},
    {ret, 1, 2, {}, source_4},
    {leave, 1, 3, {}, source_4},
    {vector_ones, 1, 1, {{fp0 | fp1 | fp3, 1}}, llvm},
    {vector_integer, 1, 1, {{fp0 | fp1 | fp3, 1}}, llvm},
    {vector_logic, 1, 1, {{fp0 | fp1 | fp2 | fp3, 1}}, llvm},
    {vector_blend_variable, 1, 1, {{fp0, 1}}, llvm},
    {vector_shuffle, 1, 1, {{fp1 | fp2, 1}}, llvm},
    {vector_shuffle_bytes, 1, 1, {{fp1 | fp2, 1}}, llvm},
    {vector_insert_lane, 2, 1, {{fp0 | fp1 | fp3, 1}}, llvm},
    {vector_shuffle_lanes, 2, 1, {{fp1 | fp2, 1}}, llvm},
    {vector_horizontal, 3, 1, {}, llvm},
    {vector_shift_by_register, 1, 1, {{fp2, 1}}, llvm},
    {vector_shift_variable, 3, 1, {{fp1, 2}}, llvm},
    {vector_multiply, 4, 1, {{fp0, 1}}, llvm},
    {vector_multiply_32, 4, 1, {{fp0, 2}}, llvm},
    {vector_compare_64, 1, 1, {{fp0 | fp3, 1}}, llvm},
    {vector_sad, 3, 1, {{fp0, 1}}, llvm},
    {vector_mpsad, 4, 3, {{fp0 | fp1 | fp2 | fp3, 8}}, source_1},
    {vector_test, 3, 1, {{fp1 | fp2, 2}}, llvm},
    {vector_mask, 2, 2, {{fp2, 2}}, llvm},
    {vector_to_integer, 3, 1, {{fp2, 1}}, source_3},
    {vector_extract, 2, 1, {{fp2, 2}, {fp1, 1}}, llvm},
    {vector_insert, 1, 1, {{fp0 | fp1 | fp2 | fp3, 1}}, llvm},
    {vector_string_explicit, 6, 8, {{fp0 | fp1 | fp2 | fp3, 12}}, source_1},
    {vector_string_implicit, 2, 4, {{fp0 | fp1 | fp2 | fp3, 8}}, source_1},
    {carryless_multiply, 4, 4, {{fp0 | fp1, 4}}, source_3},
    {aes, 4, 1, {{fp0 | fp1, 1}}, source_3},
    {aes_columns, 4, 1, {{fp0 | fp1, 1}}, llvm},
    {aes_key, 4, 1, {{fp0 | fp1, 1}}, llvm},
    {vector_ternary, 1, 1, {{fp0 | fp1 | fp3, 1}}, llvm},
    {vector_permute_bytes, 2, 1, {{fp1 | fp2, 1}}, llvm},
    {vector_compress, 2, 1, {{fp1 | fp2, 1}}, llvm},
    {vector_narrow, 4, 2, {{fp1 | fp2, 1}}, llvm},
    {vector_compare_mask, 1, 1, {{fp0 | fp1 | fp3, 1}}, llvm},
    {vector_count, 4, 1, {{fp0, 1}}, llvm},
    {vector_conflict, 1, 1, {{fp0 | fp1 | fp3, 1}}, llvm},
    {vector_zero_upper, 0, 6, {}, source_3},
    {mask_logic, 1, 1, {{fp0 | fp1 | fp2 | fp3, 1}}, llvm},
    {mask_arithmetic, 1, 1, {{fp1 | fp2, 1}}, llvm},
    {mask_test, 1, 1, {{fp0 | fp1 | fp2 | fp3, 1}}, llvm},
    {mask_move, 1, 1, {{alu0 | alu1 | alu2 | alu3, 1}}, llvm},
    {mask_to_integer, 1, 1, {{alu0 | alu1 | alu2 | alu3, 1}}, llvm},
    {gather, 15, 75, {}, source_5},
    {sha1_rounds, 6, 1, {{fp1, 1}}, llvm},
    {sha256_rounds, 4, 1, {{fp1, 1}}, llvm},
    {sha_schedule, 3, 4, {{fp0 | fp1 | fp2 | fp3, 8}}, source_1},
    {string_move, 25, 125, {}, source_5},
    {string_store, 25, 125, {}, source_5},
    {string_compare, 50, 250, {}, source_5},
    {string_step, 3, 15, {}, source_3},
    {fence, 17, 100, {}, source_3},
    {fence_full, 58, 348, {}, source_3},
    {pause, 90, 540, {}, source_3},
    {time_stamp, 35, 210, {}, source_3},
    {fp_add, 3, 1, {{fp2 | fp3, 1}}, llvm},
    {fp_multiply, 3, 1, {{fp0 | fp1, 1}}, llvm},
    {fp_fma, 5, 1, {{fp0 | fp1, 1}}, llvm},
    {fp_convert, 3, 1, {{fp1 | fp2, 1}, {fp3, 1}}, llvm},
    {fp_convert_width, 3, 1, {{fp3, 1}}, llvm},
    {fp_convert_general, 4, 1, {{fp2 | fp3, 2}}, llvm},
    {fp_round, 3, 1, {{fp3, 1}}, llvm},
    {fp_approximate, 5, 1, {{fp0 | fp1, 1}}, llvm},
    {fp_divide_single, 10, 1, {{fp3, 5}}, llvm},
    {fp_divide_single_wide, 10, 1, {{fp3, 5}}, llvm},
    {fp_divide_double, 13, 1, {{fp3, 6}}, llvm},
    {fp_divide_double_wide, 13, 1, {{fp3, 6}}, llvm},
    {fp_root_single, 14, 1, {{fp3, 7}}, llvm},
    {fp_root_single_wide, 14, 1, {{fp3, 7}}, llvm},
    {fp_root_double, 20, 1, {{fp3, 10}}, llvm},
    {fp_root_double_wide, 20, 1, {{fp3, 10}}, llvm},
    {fp_horizontal, 7, 1, {}, llvm},
    {fp_dot_single, 15, 1, {}, llvm},
    {fp_dot_double, 9, 3, {{fp0 | fp1, 6}}, source_1},
    {x87_move, 1, 1, {{fp1 | fp3, 1}}, llvm},
    {x87_add, 3, 1, {{fp2 | fp3, 1}}, llvm},
    {x87_multiply, 3, 1, {{fp0 | fp1, 1}}, llvm},
    {x87_divide, 10, 1, {{fp3, 5}}, llvm},
    {x87_root, 20, 1, {{fp3, 20}}, llvm},
    {tile_move, 50, 16, {}, source_5},
    {tile_multiply, 50, 16, {}, source_5},
};

// Width, reorder buffer and loads: A. Fog, The microarchitecture of Intel, AMD and VIA CPUs. Schedulers: published
// sizes, not checked except on Zen 4.
constinit const CoreTable zen2_core = {
    .name = "zen2",
    .width = 5,
    .rob = 224,
    .scheduler = 92,
    .load_latency = 4,
    .vector_load_latency = 7,
    .loads = l0 | l1,
    .vector_loads = l0 | l1,
    .stores = s0,
    .forward = 7,
    .forward_blocked = 14,
    .renames = Renames::moves,
    .loads_extend = 2,
    .computes_constants = true,
    .fuses = true,
    .fetch = 8,
    .indirect = 3,
    .access_bytes = 32,
    .store_bytes = 32,
    .mispredict = 22,
    .timings = by_operation(rows, common::rows),
};

}  // namespace tally::models
