// Asks the kernel for its own process's number N times, 1 <= N < 2^31: what the kernel does must not count.
#include "program.h"
        BEGIN
        SET(movl, n, %ebx)
1:      movl $39, %eax
        syscall
        decl %ebx
        jnz 1b
        xorl %edi, %edi
        movl $60, %eax
        syscall
        .section .note.GNU-stack, "", @progbits
