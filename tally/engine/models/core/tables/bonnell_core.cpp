#include "tally/engine/models/core/cores.hpp"

namespace tally::models {

namespace {

// The source of the rows. If it has several values for a kind (32 and 64 bits, scalar and packed), the row has their
// mean.
constexpr const char* llvm = "LLVM 14, X86ScheduleAtom.td (llvm-mca -mcpu=atom)";

constexpr Ports port0 = 1, loads = 2, stores = 4;
using enum Operation;

// An instruction that occupies both ports for n cycles has 2n slots. The model ignores which instructions only port 1
// executes.
constexpr Timing rows[] = {
    {nop, 0, 1, {}, llvm},
    {zeroing, 1, 1, {}, llvm},
    {move, 1, 1, {}, llvm},
    {move_self, 1, 1, {}, llvm},
    {extend, 1, 1, {{port0, 1}}, llvm},
    {extend_byte, 1, 1, {{port0, 1}}, llvm},
    {alu, 1, 1, {}, llvm},
    {add_constant, 1, 1, {}, llvm},
    {carry, 1, 1, {}, llvm},
    {select, 1, 1, {}, llvm},
    {set, 1, 1, {}, llvm},
    {lea, 1, 1, {}, llvm},
    {lea_constant, 1, 1, {}, llvm},
    {lea_scaled, 1, 1, {}, llvm},
    {lea_slow, 1, 1, {}, llvm},
    {lea_slow_scaled, 1, 1, {}, llvm},
    {lea_relative, 1, 1, {}, llvm},
    {shift, 1, 1, {{port0, 1}}, llvm},
    {shift_by_register, 1, 1, {{port0, 1}}, llvm},
    {rotate_carry, 1, 1, {{port0, 1}}, llvm},
    {shift_double, 9, 9, {}, llvm},
    {bit_test, 1, 1, {{port0, 1}}, llvm},
    {bit_set, 1, 1, {{port0, 1}}, llvm},
    {bit_test_memory, 9, 9, {}, llvm},
    {bit_count, 16, 32, {}, llvm},  // bsf, bsr
    {string_step, 2, 2, {}, llvm},  // lods 2, stos 1, movs 3 cycles
    {byte_swap, 1, 1, {{port0, 1}}, llvm},
    {byte_swap_wide, 1, 1, {{port0, 1}}, llvm},
    {multiply, 8, 1, {{port0, 8}}, llvm},  // 5 for 32 bits, 12 for 64
    {multiply_wide, 12, 24, {}, llvm},
    {divide, 56, 112, {}, llvm},  // 50, and 62 for signed numbers
    {divide_wide, 130, 260, {}, llvm},
    {divide_wide_signed, 130, 260, {}, llvm},
    {exchange, 2, 2, {}, llvm},
    {locked, 3, 3, {}, llvm},
    {push, 1, 1, {}, llvm},
    {pop, 1, 1, {}, llvm},
    {jump, 1, 1, {}, llvm},
    {jump_always, 1, 1, {}, llvm},
    {call, 1, 1, {}, llvm},
    {ret, 1, 1, {}, llvm},  // as a call: the 79 in the source are those of a far return
    {leave, 2, 2, {}, llvm},
    {vector_move, 1, 1, {}, llvm},
    {vector_integer, 1, 1, {}, llvm},
    {vector_ones, 1, 1, {}, llvm},
    {vector_logic, 1, 1, {}, llvm},
    {vector_shuffle, 1, 1, {{port0, 1}}, llvm},
    {vector_shuffle_bytes, 1, 1, {{port0, 1}}, llvm},
    {vector_horizontal, 3, 3, {}, llvm},
    {vector_shift_by_register, 2, 2, {{port0, 1}}, llvm},
    {vector_multiply, 5, 1, {{port0, 2}}, llvm},
    {vector_sad, 5, 1, {{port0, 2}}, llvm},
    {vector_mask, 3, 1, {{port0, 3}}, llvm},
    {vector_to_integer, 2, 1, {{port0, 2}}, llvm},  // 3, and 1 in the other direction
    {vector_extract, 4, 1, {{port0, 2}}, llvm},
    {vector_insert, 1, 1, {{port0, 1}}, llvm},
    {fp_add, 5, 1, {{port0, 1}}, llvm},
    {fp_multiply, 5, 1, {{port0, 2}}, llvm},
    {fp_convert, 6, 12, {}, llvm},
    {fp_convert_width, 7, 14, {}, llvm},    // 6 to 8
    {fp_convert_general, 7, 14, {}, llvm},  // 5 to 9
    {fp_approximate, 6, 12, {}, llvm},      // 4, and 9 for four elements
    {fp_divide_single, 52, 104, {}, llvm},  // 34, and 70 for four elements
    {fp_divide_double, 94, 188, {}, llvm},  // 62, and 125 for two elements
    {fp_root_single, 52, 104, {}, llvm},
    {fp_root_double, 94, 188, {}, llvm},
    {fp_horizontal, 8, 16, {}, llvm},
    {x87_move, 1, 1, {}, llvm},
    {x87_add, 5, 1, {{port0, 1}}, llvm},
    {x87_multiply, 4, 1, {{port0, 2}}, llvm},
    {x87_divide, 34, 68, {}, llvm},
    {x87_root, 71, 142, {}, llvm},
};

}  // namespace

// Two instructions per cycle and a load latency of 3 cycles: IssueWidth and LoadLatency of the same file. No
// instruction completes before earlier ones have started: MicroOpBufferSize = 0 there. A misprediction: A. Fog, The
// microarchitecture of Intel, AMD and VIA CPUs.
constinit const CoreTable bonnell_core = {
    .name = "bonnell",
    .width = 2,
    .rob = 0,
    .load_latency = 3,
    .vector_load_latency = 3,
    .loads = loads,
    .vector_loads = loads,
    .stores = stores,
    .mispredict = 13,
    .timings = by_operation(rows),
};

}  // namespace tally::models
