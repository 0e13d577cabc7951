// N rounds of additions to R12. ADDS: additions that depend on one another; with APART, each uses its own register. A
// round is ADDS + 2 instructions.
        .text
        .globl _start
_start: movq $N, %r11
again:
#ifdef APART
        addq %r11, %r12
        addq %r11, %r13
#else
        .rept ADDS
        addq %r11, %r12
        .endr
#endif
        decq %r11
        jnz again
        xorl %edi, %edi
        movl $60, %eax
        syscall
        .section .note.GNU-stack, "", @progbits
