// R12 = N! in three loop shapes of 5, 4 and 3 instructions. SHAPE: 5, 4 or 3; NOPS: how many `nop`s go before each of
// the last three instructions of the five; N >= 1, for SHAPE 4 N >= 2.
#ifndef NOPS
#define NOPS 0
#endif

        .text
        .globl _start
_start: movq $N, %r11
        movq $1, %r12
again:
#if SHAPE == 5
        cmpq $1, %r11
        jle out
        .rept NOPS
        nop
        .endr
        imulq %r11, %r12
        .rept NOPS
        nop
        .endr
        decq %r11
        .rept NOPS
        nop
        .endr
        jmp again
#elif SHAPE == 4
        imulq %r11, %r12
        decq %r11
        cmpq $1, %r11
        jg again
#else
        imulq %r11, %r12
        decq %r11
        jnz again
#endif
out:    xorl %edi, %edi
        movl $60, %eax
        syscall
        .section .note.GNU-stack, "", @progbits
