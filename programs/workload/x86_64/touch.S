// Reads and writes a word of each of N untouched pages, 1 <= N < 2^19: N page faults, or somewhat fewer if the kernel
// maps several pages at once.
#include "program.h"
        BEGIN
        SET(movq, first, %rsi)
        SET(movl, n, %ecx)
1:      movq (%rsi), %rax
        movq %rax, (%rsi)
        addq $4096, %rsi
        decl %ecx
        jnz 1b
        xorl %edi, %edi
        movl $60, %eax
        syscall

#ifndef SHIPPED
        .bss
        .balign 4096
first:  .skip N * 4096
#endif
        .section .note.GNU-stack, "", @progbits
