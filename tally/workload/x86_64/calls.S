// N times a call, a call through a register and a jump through a register; N >= 1.
#include "program.h"
        BEGIN
        leaq 3f(%rip), %rbx
        leaq 2f(%rip), %rbp
        SET(movl, n, %ecx)
1:      call 3f
        call *%rbx
        jmp *%rbp
2:      decl %ecx
        jnz 1b
        xorl %edi, %edi
        movl $60, %eax
        syscall
3:      ret
        .section .note.GNU-stack, "", @progbits
