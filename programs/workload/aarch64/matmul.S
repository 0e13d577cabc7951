// Fills A and B with 2, then C = A * B, for N x N 32-bit integers.
#include "program.h"
        BEGIN
        PLACE(first, x0)
        PLACE(second, x1)
        SET(cells, x2)
        mov w3, #2
1:      str w3, [x0], #4
        str w3, [x1], #4
        subs x2, x2, #1
        b.ne 1b
        PLACE(third, x0)
        PLACE(first, x4)
        SET(n, x5)
        SET(row, x13)
2:      PLACE(second, x6)
        SET(n, x7)
3:      mov w8, #0
        mov x9, x4
        mov x10, x6
        SET(n, x11)
4:      ldr w12, [x9], #4
        ldr w14, [x10]
        madd w8, w12, w14, w8
        add x10, x10, x13
        subs x11, x11, #1
        b.ne 4b
        str w8, [x0], #4
        add x6, x6, #4
        subs x7, x7, #1
        b.ne 3b
        add x4, x4, x13
        subs x5, x5, #1
        b.ne 2b
#include "end.h"
        .section .note.GNU-stack, "", @progbits
