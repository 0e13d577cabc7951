// Calls getpid N times, 1 <= N < 2^31: the kernel's work must not be counted.
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
