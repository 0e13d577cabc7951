// N rounds of additions to R12. ADDS: additions that depend on one another; with APART, each uses its own register. With
// CALL, a function of three instructions adds; with JUMP, an indirect jump leads to the addition; with ALTERNATE, to two
// in turn; with THREADED, an indirect jump ends each round, and nothing is a conditional branch. Otherwise a round is
// ADDS + 2 instructions.
        .text
        .globl _start
_start: movq $N, %r11
#ifdef JUMP
        movq $odd, %r14
#elif defined ALTERNATE
        movq $odd, %r14
        movq $even, %r15
#elif defined THREADED
        movq $again, %r14
        movq $end, %r15
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
#elif defined ALTERNATE
        xchgq %r14, %r15
        jmp *%r14
odd:    addq %r11, %r12
        jmp next
even:   addq %r11, %r13
next:
#elif defined THREADED
        addq %r11, %r12
#else
        .rept ADDS
        addq %r11, %r12
        .endr
#endif
        decq %r11
#ifdef THREADED
        cmovzq %r15, %r14
        jmp *%r14
#else
        jnz again
#endif
end:    xorl %edi, %edi
        movl $60, %eax
        syscall
#ifdef CALL
add:    addq %r11, %r12
        nop
        ret
#endif
        .section .note.GNU-stack, "", @progbits
