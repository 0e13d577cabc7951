// Asks the kernel for its own process's number N times, 1 <= N < 65536: what the kernel does must not count.
        .text
        .globl _start
_start: mov x19, #N
again:  mov x8, #172
        svc #0
        subs x19, x19, #1
        b.ne again
        mov x0, #0
        mov x8, #93
        svc #0
        .section .note.GNU-stack, "", @progbits
