// A program is written once and assembled twice: linked, for the parameters that the build names, and shipped within
// tally as bytes, in which the parameters are filled in when it is written out (shipped.S, ../image.cpp).
//
// SET(instruction, value, register) is an instruction whose last four bytes are the value as an immediate. What stands
// in `#ifndef SHIPPED` is for the linker: the memory of a shipped program is in the table of ../workload.cpp.
#ifdef SHIPPED
#define BEGIN
#define SET(instruction, value, ...) instruction $0x70000000, __VA_ARGS__; filled_in VALUE_##value
#else
#define BEGIN .text; .globl _start; _start:
#define SET(instruction, value, ...) instruction $VALUE_##value, __VA_ARGS__
#define VALUE_n N
#define VALUE_first first
#define VALUE_second second
#define VALUE_third third
#define VALUE_stride S
#define VALUE_steps (A / S)
#define VALUE_cells (N * N)
#define VALUE_row (4 * N)
#endif
