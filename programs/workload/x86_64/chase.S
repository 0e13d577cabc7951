// A pointer chase: links N lines of 64 bytes (N a power of two) in the order of a generator that visits all of them
// (Hull and Dobell: the factor is one more than a multiple of 4, the increment odd). Then K rounds, in which each load
// is the address of the next.
#include "program.h"
        BEGIN
        SET(movq, first, %rsi)
        movq %rsi, %rdi
        SET(movl, n, %ecx)
        xorl %ebx, %ebx
1:      imull $1664525, %ebx, %edx
        addl $1013904223, %edx
        SET(andl, last, %edx)
        shlq $6, %rdx
        addq %rsi, %rdx
        movq %rdx, (%rdi)
        addq $64, %rdi
        incl %ebx
        decl %ecx
        jnz 1b
        SET(movl, rounds, %ecx)
2:      movq (%rsi), %rsi
        decl %ecx
        jnz 2b
        xorl %edi, %edi
        movl $60, %eax
        syscall
        .section .note.GNU-stack, "", @progbits
