// Each program is assembled twice: linked, with parameters from the build, and as bytes within tally, which fills in
// the parameters when it writes the file (shipped.S, ../image.cpp).
//
// SET(value, register) and PLACE(buffer, register) are a movz and a movk with the lower and the upper 16 bits. `#ifndef
// SHIPPED` is for the linker: the memory of a shipped program is defined in the table of ../aarch64.cpp.
#ifdef SHIPPED
#define BEGIN
#define SET(value, reg) movz reg, #0; filled_in VALUE_##value; movk reg, #0, lsl #16
#define PLACE(buffer, reg) SET(buffer, reg)
#else
#define BEGIN .text; .globl _start; _start:
#define SET(value, reg) movz reg, #((VALUE_##value) & 0xffff); movk reg, #((VALUE_##value) >> 16), lsl #16
#define PLACE(buffer, reg) movz reg, #:abs_g0_nc:buffer; movk reg, #:abs_g1:buffer
#define VALUE_n N
#endif
