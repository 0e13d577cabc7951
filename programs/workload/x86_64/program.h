// Each program is assembled twice: linked, with parameters from the build, and as bytes within tally, which fills in
// the parameters when it writes the file (shipped.S, ../image.cpp).
//
// SET(instruction, value, register) is an instruction whose last four bytes are the value as an immediate. `#ifndef
// SHIPPED` is for the linker: the memory of a shipped program is defined in the table of ../workload.cpp.
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
