// Reads and writes one word of each of N pages that nobody touched before, 1 <= N < 65536: N page faults, or somewhat
// fewer where the kernel maps several pages at once.
        .text
        .globl _start
_start: adrp x1, pages
        mov x0, #N
again:  ldr x2, [x1]
        str x2, [x1]
        add x1, x1, #4096
        subs x0, x0, #1
        b.ne again
        mov x0, #0
        mov x8, #93
        svc #0

        .bss
        .balign 4096
pages:  .skip N * 4096
        .section .note.GNU-stack, "", @progbits
