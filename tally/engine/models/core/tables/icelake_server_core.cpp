// The core Ice Lake. Written by cores.py from LLVM's scheduling model and core_corrections.txt.
#include "tally/engine/models/core/tables/common_timings.hpp"

namespace tally::models {

// Ports. l: loads, s: stores, div and fdiv: dividers.
constexpr Ports l0 = 1 << 0;
constexpr Ports l1 = 1 << 1;
constexpr Ports s0 = 1 << 2;
constexpr Ports s1 = 1 << 3;
constexpr Ports div = 1 << 4;
constexpr Ports fdiv = 1 << 5;
constexpr Ports p0 = 1 << 6;
constexpr Ports p1 = 1 << 7;
constexpr Ports p5 = 1 << 8;
constexpr Ports p6 = 1 << 9;

using enum Operation;

constexpr const char* llvm = "LLVM 19, llvm-mca -mcpu=icelake-server";
constexpr const char* source_1 =
    "not checked for this core: A. Fog, Instruction tables (2022-11-04); the middle if it states a range";
constexpr const char* source_2 = "Intel 64 and IA-32 Optimization Reference Manual, moves without latency";
constexpr const char* source_3 = "A. Abel and J. Reineke, uops.info: Ice Lake, Alder Lake-P (Golden Cove), Zen 3 and 4";
constexpr const char* source_4 = "Intel and AMD optimization manuals: done at renaming, or by the stack engine";
constexpr const char* source_5 = "an estimate: right in its order of magnitude";
constexpr const char* source_6 =
    "not checked for this core: measured on a Granite Rapids, 2026-11-28, cycles of unrolled copies against a chain of "
    "additions";

constexpr Timing rows[] = {
    {move, 1, 1, {{p0 | p1 | p5 | p6, 1}}, source_1},
    {move_self, 1, 1, {{p0 | p1 | p5 | p6, 1}}, source_2},
    {extend, 1, 1, {{p0 | p1 | p5 | p6, 1}}, llvm},
    {extend_byte, 1, 1, {{p0 | p1 | p5 | p6, 1}}, llvm},
    {extend_sign, 1, 1, {{p0 | p1 | p5 | p6, 1}}, llvm},
    {alu, 1, 1, {{p0 | p1 | p5 | p6, 1}}, llvm},
    {add_constant, 1, 1, {{p0 | p1 | p5 | p6, 1}}, llvm},
    {carry, 1, 1, {{p0 | p6, 1}}, llvm},
    {select, 1, 1, {{p0 | p6, 1}}, llvm},
    {select_unsigned, 2, 2, {{p0 | p6, 2}}, llvm},
    {select_signed, 1, 1, {{p0 | p6, 1}}, llvm},
    {set, 1, 1, {{p0 | p6, 1}}, llvm},
    {lea, 1, 1, {{p0 | p1 | p5 | p6, 1}}, source_3},
    {lea_constant, 1, 1, {{p0 | p1 | p5 | p6, 1}}, source_3},
    {lea_scaled, 1, 1, {{p1 | p5, 1}}, llvm},
    {lea_slow, 1, 1, {{p0 | p1 | p5 | p6, 1}}, source_3},
    {lea_slow_scaled, 1, 1, {{p1 | p5, 1}}, llvm},
    {lea_relative, 1, 1, {{p1, 1}}, source_3},
    {shift, 1, 1, {{p0 | p6, 1}}, llvm},
    {shift_by_register, 2, 2, {{p0 | p6, 2}}, source_3},
    {rotate_carry, 2, 3, {{p0 | p6, 2}, {p1 | p5, 1}}, llvm},
    {shift_double, 3, 1, {{p1, 1}}, llvm},
    {bit_test, 1, 1, {{p0 | p6, 1}}, llvm},
    {bit_set, 1, 1, {{p0 | p6, 1}}, llvm},
    {bit_test_memory, 6, 2, {{p0 | p1 | p5 | p6, 1}}, llvm},
    {bit_deposit, 3, 1, {{p1, 1}}, llvm},
    {bit_count, 3, 1, {{p1, 1}}, llvm},
    {bit_extract, 2, 2, {{p0 | p1 | p5 | p6, 2}}, llvm},
    {byte_swap, 1, 1, {{p1 | p5, 1}}, llvm},
    {byte_swap_wide, 2, 2, {{p0 | p1 | p5 | p6, 2}}, llvm},
    {multiply, 3, 1, {{p1, 1}}, llvm},
    {multiply_wide, 4, 2, {{p1 | p5, 2}}, llvm},
    {divide, 12, 4, {{div, 6}}, source_1},
    {divide_wide, 15, 4, {{div, 10}}, source_1},
    {divide_wide_signed, 15, 4, {{div, 10}}, source_1},
    {exchange, 0, 2, {}, source_4},
    {locked, 13, 90, {}, source_3},
    {push, 0, 1, {}, source_1},
    {pop, 0, 1, {}, source_1},
    {jump, 1, 1, {{p0 | p6, 1}}, llvm},
    {jump_always, 1, 1, {{p6, 1}}, source_1},
    {call, 1, 2, {{p6, 1}}, source_1},
    {ret, 1, 2, {{p6, 1}}, source_1},
    {leave, 1, 3, {}, source_1},
    {vector_ones, 1, 1, {{p0 | p1, 1}}, llvm},
    {vector_integer, 1, 1, {{p0 | p1 | p5, 1}}, llvm},
    {vector_logic, 1, 1, {{p0 | p1 | p5, 1}}, llvm},
    {vector_blend_variable, 2, 2, {{p0 | p1 | p5, 2}}, llvm},
    {vector_shuffle, 1, 1, {{p1 | p5, 1}}, llvm},
    {vector_shuffle_bytes, 1, 1, {{p1 | p5, 1}}, llvm},
    {vector_insert_lane, 3, 1, {{p5, 1}}, llvm},
    {vector_shuffle_lanes, 3, 1, {{p5, 1}}, llvm},
    {vector_horizontal, 3, 3, {{p1 | p5, 3}, {p0, 1}}, llvm},
    {vector_shift_by_register, 4, 2, {{p0 | p1, 1}, {p5, 1}}, llvm},
    {vector_shift_variable, 1, 1, {{p0 | p1, 1}}, llvm},
    {vector_multiply, 5, 1, {{p0 | p1, 1}}, llvm},
    {vector_multiply_32, 10, 2, {{p0 | p1, 2}}, llvm},
    {vector_compare_64, 3, 1, {{p5, 1}}, llvm},
    {vector_sad, 3, 1, {{p5, 1}}, llvm},
    {vector_mpsad, 4, 2, {{p5, 2}, {p1, 1}}, llvm},
    {vector_test, 3, 2, {{p0 | p5, 2}}, llvm},
    {vector_mask, 2, 1, {{p0, 1}}, llvm},
    {vector_to_integer, 2, 1, {{p0, 1}}, llvm},
    {vector_extract, 3, 2, {{p0 | p5, 2}}, llvm},
    {vector_insert, 2, 2, {{p5, 2}}, llvm},
    {vector_string_explicit, 18, 8, {{p0, 4}, {p5, 3}, {p1 | p6, 1}}, llvm},
    {vector_string_implicit, 10, 3, {{p0, 3}}, llvm},
    {carryless_multiply, 6, 1, {{p5, 1}}, llvm},
    {aes, 4, 1, {{p0, 1}}, llvm},
    {aes_columns, 8, 2, {{p0, 2}}, llvm},
    {aes_key, 20, 11, {{p5, 7}, {p0, 4}, {p1, 1}}, llvm},
    {vector_ternary, 1, 1, {{p0 | p1 | p5, 1}}, llvm},
    {vector_permute_bytes, 3, 1, {{p5, 1}}, llvm},
    {vector_compress, 6, 2, {{p5, 2}}, llvm},
    {vector_narrow, 4, 2, {{p5, 2}}, llvm},
    {vector_compare_mask, 4, 1, {{p5, 1}}, llvm},
    {vector_count, 5, 1, {{p0 | p1, 1}}, llvm},
    {vector_conflict, 37, 21, {{p5, 11}, {p0 | p1, 10}}, llvm},
    {vector_zero_upper, 0, 4, {}, source_1},
    {mask_logic, 1, 1, {{p0, 1}}, llvm},
    {mask_arithmetic, 4, 1, {{p5, 1}}, llvm},
    {mask_test, 3, 1, {{p0, 1}}, llvm},
    {mask_move, 1, 1, {{p0, 1}}, llvm},
    {mask_to_integer, 3, 1, {{p0, 1}}, llvm},
    {gather, 15, 12, {{p0 | p5, 4}, {l0 | l1, 8}}, source_1},
    {scatter, 15, 30, {{s0, 8}}, source_5},
    {sha1_rounds, 5, 1, {{p0 | p1, 1}}, llvm},
    {sha256_rounds, 5, 1, {{p0 | p1, 1}}, llvm},
    {sha_schedule, 5, 1, {{p0 | p1, 1}}, llvm},
    {string_move, 25, 125, {}, source_5},
    {string_store, 25, 125, {}, source_5},
    {string_compare, 50, 250, {}, source_5},
    {string_step, 1, 3, {{p0 | p1 | p5 | p6, 1}}, source_1},
    {fence, 12, 60, {}, source_6},
    {fence_full, 38, 190, {}, source_6},
    {pause, 34, 170, {}, source_6},
    {time_stamp, 29, 145, {}, source_6},
    {fp_add, 4, 1, {{p0 | p1, 1}}, llvm},
    {fp_multiply, 4, 1, {{p0 | p1, 1}}, llvm},
    {fp_fma, 4, 1, {{p0 | p1, 1}}, llvm},
    {fp_convert, 4, 1, {{p0 | p1, 1}}, llvm},
    {fp_convert_width, 5, 2, {{p0 | p1, 1}, {p5, 1}}, llvm},
    {fp_convert_general, 6, 2, {{p0 | p1, 2}}, llvm},
    {fp_round, 8, 2, {{p0 | p1, 2}}, llvm},
    {fp_approximate, 4, 1, {{p0, 1}}, llvm},
    {fp_divide_single, 11, 1, {{fdiv, 3}, {p0, 1}}, llvm},
    {fp_divide_single_wide, 11, 1, {{fdiv, 5}, {p0, 1}}, llvm},
    {fp_divide_double, 14, 1, {{fdiv, 4}, {p0, 1}}, llvm},
    {fp_divide_double_wide, 14, 1, {{fdiv, 8}, {p0, 1}}, llvm},
    {fp_root_single, 12, 1, {{fdiv, 3}, {p0, 1}}, llvm},
    {fp_root_single_wide, 12, 1, {{fdiv, 6}, {p0, 1}}, llvm},
    {fp_root_double, 18, 1, {{fdiv, 6}, {p0, 1}}, llvm},
    {fp_root_double_wide, 18, 1, {{fdiv, 12}, {p0, 1}}, llvm},
    {fp_horizontal, 6, 3, {{p5, 2}, {p0 | p1, 1}}, llvm},
    {fp_dot_single, 13, 4, {{p0 | p1, 2}, {p5, 2}}, llvm},
    {fp_dot_double, 9, 3, {{p5, 2}, {p0 | p1, 1}}, llvm},
    {x87_move, 1, 1, {{p0 | p1 | p5 | p6, 1}}, llvm},
    {x87_add, 3, 1, {{p5, 1}}, llvm},
    {x87_multiply, 4, 1, {{p0, 1}}, llvm},
    {x87_divide, 20, 1, {{p0, 1}}, llvm},
    {x87_root, 21, 1, {{fdiv, 7}, {p0, 1}}, llvm},
    {tile_move, 50, 16, {}, source_5},
    {tile_multiply, 50, 16, {}, source_5},
};

// Width, reorder buffer and loads: Intel 64 and IA-32 Architectures Optimization Reference Manual. Schedulers:
// published sizes, not checked except on Zen 4.
constinit const CoreTable icelake_server_core = {
    .name = "icelake-server",
    .width = 5,
    .rob = 352,
    .scheduler = 160,
    .load_latency = 5,
    .vector_load_latency = 7,
    .loads = l0 | l1,
    .vector_loads = l0 | l1,
    .stores = s0 | s1,
    .forward = 5,
    .forward_blocked = 14,
    .loads_extend = 2,
    .shifts_keep_flags = false,
    .computes_constants = true,
    .fuses = true,
    .store_merges = true,
    .mispredict = 20,
    .timings = by_operation(rows, common::rows),
};

}  // namespace tally::models
