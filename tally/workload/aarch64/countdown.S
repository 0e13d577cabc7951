// Counts down from N: 1 <= N < 2^32. The loop is two instructions.
        .text
        .globl _start
_start: movz x0, #(N & 0xffff)
        movk x0, #(N >> 16), lsl #16
again:  subs x0, x0, #1
        b.ne again
        mov x0, #0
        mov x8, #93
        svc #0
        .section .note.GNU-stack, "", @progbits
