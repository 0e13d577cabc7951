// X12 = N! in loops of 5, 4 and 3 instructions. SHAPE: 5, 4 or 3; NOPS: number of `nop`s before each of the last three
// instructions of SHAPE 5; N >= 1, for SHAPE 4 N >= 2.
#include "program.h"
#ifndef NOPS
#define NOPS 0
#endif
        BEGIN
        SET(n, x11)
        mov x12, #1
1:
#if SHAPE == 5
        cmp x11, #1
        b.le 2f
        .rept NOPS
        nop
        .endr
        mul x12, x12, x11
        .rept NOPS
        nop
        .endr
        sub x11, x11, #1
        .rept NOPS
        nop
        .endr
        b 1b
#elif SHAPE == 4
        mul x12, x12, x11
        sub x11, x11, #1
        cmp x11, #1
        b.gt 1b
#else
        mul x12, x12, x11
        subs x11, x11, #1
        b.ne 1b
#endif
2:
#include "end.h"
        .section .note.GNU-stack, "", @progbits
