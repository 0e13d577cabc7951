// A pointer chase: links N lines of 64 bytes (N a power of two) in the order of a generator that visits all of them
// (Hull and Dobell: the factor is one more than a multiple of 4, the increment odd). Then K rounds, in which each load
// is the address of the next.
#include "program.h"
        BEGIN
        PLACE(first, x0)
        mov x1, x0
        SET(n, x2)
        mov w3, #0
        SET(last, x9)
        movz w10, #(1664525 & 0xffff)
        movk w10, #(1664525 >> 16), lsl #16
        movz w11, #(1013904223 & 0xffff)
        movk w11, #(1013904223 >> 16), lsl #16
1:      mul w4, w3, w10
        add w4, w4, w11
        and w4, w4, w9
        add x5, x0, x4, lsl #6
        str x5, [x1], #64
        add w3, w3, #1
        subs x2, x2, #1
        b.ne 1b
        SET(rounds, x2)
2:      ldr x0, [x0]
        subs x2, x2, #1
        b.ne 2b
#include "end.h"
        .section .note.GNU-stack, "", @progbits
