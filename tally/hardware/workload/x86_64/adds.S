// N rounds of additions to R12. ADDS: additions that depend on one another; with APART, each uses its own register. With
// CALL, a function of three instructions adds; with JUMP, an indirect jump leads to the addition.
// Otherwise a round is ADDS + 2 instructions.
        .text
        .globl _start
_start: movq $N, %r11
#ifdef JUMP
        movq $odd, %r14
#endif
again:
#ifdef APART
        addq %r11, %r12
        addq %r11, %r13
#elif defined CALL
        call add
#elif defined JUMP
        jmp *%r14
odd:    addq %r11, %r12
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
#ifdef CALL
add:    addq %r11, %r12
        nop
        ret
#endif
        .section .note.GNU-stack, "", @progbits
