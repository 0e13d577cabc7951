#include "tally/engine/models/core/bonnell_core.hpp"

namespace tally::models {

namespace {

// The source of the rows. If it has several values for a kind (32 and 64 bits, scalar and packed), the row has their
// mean.
constexpr const char* llvm = "LLVM 14, X86ScheduleAtom.td (llvm-mca -mcpu=atom)";

constexpr std::uint16_t cycle = ticks_per_cycle;
using enum Operation;

// An instruction that occupies both ports for n cycles has 2n slots. One that only port 0 executes occupies `multiply`
// (integers) or a vector unit. The model ignores that these units are one port, and which instructions only port 1
// executes.
constexpr Timing rows[] = {
    {nop, 0, 1, Unit::none, 0, llvm},
    {zeroing, 1, 1, Unit::none, 0, llvm},
    {move, 1, 1, Unit::none, 0, llvm},
    {extend, 1, 1, Unit::multiply, cycle, llvm},
    {alu, 1, 1, Unit::none, 0, llvm},
    {carry, 1, 1, Unit::none, 0, llvm},
    {select, 1, 1, Unit::none, 0, llvm},
    {set, 1, 1, Unit::none, 0, llvm},
    {lea, 1, 1, Unit::none, 0, llvm},
    {lea_slow, 1, 1, Unit::none, 0, llvm},
    {shift, 1, 1, Unit::multiply, cycle, llvm},
    {shift_by_register, 1, 1, Unit::multiply, cycle, llvm},
    {rotate_carry, 1, 1, Unit::multiply, cycle, llvm},
    {shift_double, 9, 9, Unit::none, 0, llvm},
    {bit_test, 1, 1, Unit::multiply, cycle, llvm},
    {bit_count, 16, 32, Unit::none, 0, llvm},  // bsf, bsr
    {byte_swap, 1, 1, Unit::multiply, cycle, llvm},
    {byte_swap_wide, 1, 1, Unit::multiply, cycle, llvm},
    {multiply, 8, 1, Unit::multiply, 8 * cycle, llvm},  // 5 for 32 bits, 12 for 64
    {multiply_wide, 12, 24, Unit::none, 0, llvm},
    {divide, 56, 112, Unit::none, 0, llvm},  // 50, and 62 for signed numbers
    {divide_wide, 130, 260, Unit::none, 0, llvm},
    {divide_wide_signed, 130, 260, Unit::none, 0, llvm},
    {exchange, 2, 2, Unit::none, 0, llvm},
    {locked, 3, 3, Unit::none, 0, llvm},
    {push, 1, 1, Unit::none, 0, llvm},
    {pop, 1, 1, Unit::none, 0, llvm},
    {jump, 1, 1, Unit::none, 0, llvm},
    {call, 1, 1, Unit::none, 0, llvm},
    {ret, 1, 1, Unit::none, 0, llvm},  // as a call: the 79 in the source are those of a far return
    {leave, 2, 2, Unit::none, 0, llvm},
    {vector_move, 1, 1, Unit::none, 0, llvm},
    {vector_integer, 1, 1, Unit::none, 0, llvm},
    {vector_logic, 1, 1, Unit::none, 0, llvm},
    {vector_shuffle, 1, 1, Unit::shuffle, cycle, llvm},
    {vector_horizontal, 3, 3, Unit::none, 0, llvm},
    {vector_shift_by_register, 2, 2, Unit::shuffle, cycle, llvm},
    {vector_multiply, 5, 1, Unit::fp_multiply, 2 * cycle, llvm},
    {vector_sad, 5, 1, Unit::fp_multiply, 2 * cycle, llvm},
    {vector_mask, 3, 1, Unit::shuffle, 3 * cycle, llvm},
    {vector_to_integer, 2, 1, Unit::shuffle, 2 * cycle, llvm},  // 3, and 1 in the other direction
    {vector_extract, 4, 1, Unit::shuffle, 2 * cycle, llvm},
    {vector_insert, 1, 1, Unit::shuffle, cycle, llvm},
    {fp_add, 5, 1, Unit::fp_add, cycle, llvm},
    {fp_multiply, 5, 1, Unit::fp_multiply, 2 * cycle, llvm},
    {fp_convert, 6, 12, Unit::none, 0, llvm},
    {fp_convert_width, 7, 14, Unit::none, 0, llvm},    // 6 to 8
    {fp_approximate, 6, 12, Unit::none, 0, llvm},      // 4, and 9 for four elements
    {fp_divide_single, 52, 104, Unit::none, 0, llvm},  // 34, and 70 for four elements
    {fp_divide_double, 94, 188, Unit::none, 0, llvm},  // 62, and 125 for two elements
    {fp_root_single, 52, 104, Unit::none, 0, llvm},
    {fp_root_double, 94, 188, Unit::none, 0, llvm},
    {fp_horizontal, 8, 16, Unit::none, 0, llvm},
    {x87_move, 1, 1, Unit::none, 0, llvm},
    {x87_add, 5, 1, Unit::fp_add, cycle, llvm},
    {x87_multiply, 4, 1, Unit::fp_multiply, 2 * cycle, llvm},
    {x87_divide, 34, 68, Unit::none, 0, llvm},
    {x87_root, 71, 142, Unit::none, 0, llvm},
};

}  // namespace

// Two instructions per cycle and a load latency of 3 cycles: IssueWidth and LoadLatency of the same file. No
// instruction completes before earlier ones have started: MicroOpBufferSize = 0 there.
constinit const CoreTable bonnell_core = {
    .name = "bonnell",
    .width = 2,
    .window = 0,
    .load_latency = 3,
    .vector_load_latency = 3,
    .load_busy = cycle,
    .store_busy = cycle,
    .in_order = true,
    .timings = by_operation(rows),
};

}  // namespace tally::models
