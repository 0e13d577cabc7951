// R12 = N! in loops of 5, 4 and 3 instructions. SHAPE: 5, 4 or 3; NOPS: number of `nop`s before each of the last three
// instructions of SHAPE 5; N >= 1, for SHAPE 4 N >= 2.
#include "program.h"
#ifndef NOPS
#define NOPS 0
#endif

        BEGIN
        SET(movq, n, %r11)
        movq $1, %r12
1:
#if SHAPE == 5
        cmpq $1, %r11
        jle 2f
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
        jmp 1b
#elif SHAPE == 4
        imulq %r11, %r12
        decq %r11
        cmpq $1, %r11
        jg 1b
#else
        imulq %r11, %r12
        decq %r11
        jnz 1b
#endif
2:      xorl %edi, %edi
        movl $60, %eax
        syscall
        .section .note.GNU-stack, "", @progbits
