// Forks N children, one after the other. Each counts down from K while the parent waits.
#include "program.h"
        BEGIN
        SET(movl, n, %ebx)
1:      movl $57, %eax
        syscall
        testl %eax, %eax
        jz 2f
        movl $61, %eax
        movq $-1, %rdi
        xorl %esi, %esi
        xorl %edx, %edx
        xorl %r10d, %r10d
        syscall
        decl %ebx
        jnz 1b
        xorl %edi, %edi
        movl $60, %eax
        syscall
2:      SET(movl, k, %ecx)
3:      decl %ecx
        jnz 3b
        xorl %edi, %edi
        movl $60, %eax
        syscall
        .section .note.GNU-stack, "", @progbits
