// S passes over an array of A bytes, loading every S-th byte. A and S are powers of two, S <= A.
#include "program.h"
        BEGIN
        SET(movl, stride, %r8d)
1:      SET(movq, first, %rsi)
        SET(movl, steps, %ecx)
2:      movzbl (%rsi), %eax
        SET(addq, stride, %rsi)
        decl %ecx
        jnz 2b
        decl %r8d
        jnz 1b
        xorl %edi, %edi
        movl $60, %eax
        syscall

#ifndef SHIPPED
        .bss
        .balign 4096
first:  .skip A
#endif
        .section .note.GNU-stack, "", @progbits
