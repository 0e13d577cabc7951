// N successive images of one process: each executes the program's file (argument 0, which must contain a slash) with
// one more argument, until there are N. Start it without arguments.
#include "program.h"
        BEGIN
        movq (%rsp), %rcx
        SET(cmpq, n, %rcx)
        jge 2f
        movq 8(%rsp), %rdi
        SET(movq, first, %rsi)
1:      movq %rdi, (%rsi)
        addq $8, %rsi
        decq %rcx
        jns 1b
        movl $59, %eax
        SET(movq, first, %rsi)
        xorl %edx, %edx
        syscall
2:      xorl %edi, %edi
        movl $60, %eax
        syscall
        .section .note.GNU-stack, "", @progbits
