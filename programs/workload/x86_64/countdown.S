// Counts down from N: 1 <= N < 2^31. The loop is two instructions; a nop makes the counts the same on every
// architecture.
#include "program.h"
        BEGIN
        SET(movq, n, %rcx)
        nop
1:      decq %rcx
        jnz 1b
        xorl %edi, %edi
        movl $60, %eax
        syscall
        .section .note.GNU-stack, "", @progbits
