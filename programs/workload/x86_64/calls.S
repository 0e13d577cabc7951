// N iterations of two calls, a call through a register, and four jumps through registers; N >= 1. No two kinds occur
// equally often, so that a wrong classification shows.
#include "program.h"
        BEGIN
        leaq 9f(%rip), %rbx
        leaq 2f(%rip), %rbp
        leaq 3f(%rip), %rsi
        leaq 4f(%rip), %rdi
        leaq 5f(%rip), %r8
        SET(movl, n, %ecx)
1:      call 9f
        call 9f
        call *%rbx
        jmp *%rbp
2:      jmp *%rsi
3:      jmp *%rdi
4:      jmp *%r8
5:      decl %ecx
        jnz 1b
        xorl %edi, %edi
        movl $60, %eax
        syscall
9:      ret
        .section .note.GNU-stack, "", @progbits
