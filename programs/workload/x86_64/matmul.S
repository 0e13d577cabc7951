// Fills A and B with 2, then C = A * B, for N x N 32-bit integers.
#include "program.h"

        BEGIN
        SET(movq, first, %rdi)
        SET(movq, second, %rsi)
        SET(movl, cells, %ecx)
1:      movl $2, (%rdi)
        movl $2, (%rsi)
        addq $4, %rdi
        addq $4, %rsi
        decl %ecx
        jnz 1b

        SET(movq, third, %rdi)
        SET(movq, first, %rsi)
        SET(movl, n, %r8d)
2:      SET(movq, second, %rbx)
        SET(movl, n, %r9d)
3:      xorl %eax, %eax
        movq %rsi, %r10
        movq %rbx, %r11
        SET(movl, n, %ecx)
4:      movl (%r10), %edx
        imull (%r11), %edx
        addl %edx, %eax
        addq $4, %r10
        SET(addq, row, %r11)
        decl %ecx
        jnz 4b
        movl %eax, (%rdi)
        addq $4, %rdi
        addq $4, %rbx
        decl %r9d
        jnz 3b
        SET(addq, row, %rsi)
        decl %r8d
        jnz 2b

        xorl %edi, %edi
        movl $60, %eax
        syscall

#ifndef SHIPPED
        .bss
        .balign 4096
first:  .skip 4 * N * N
second: .skip 4 * N * N
third:  .skip 4 * N * N
#endif
        .section .note.GNU-stack, "", @progbits
