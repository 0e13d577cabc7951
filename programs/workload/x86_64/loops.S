// Nested loops, N times K iterations: the inner branch is taken K - 1 times, then not taken.
#include "program.h"
        BEGIN
        SET(movl, n, %ebx)
1:      SET(movl, k, %ecx)
2:      decl %ecx
        jnz 2b
        decl %ebx
        jnz 1b
        xorl %edi, %edi
        movl $60, %eax
        syscall
        .section .note.GNU-stack, "", @progbits
