// Ends at once: what is counted more than these three instructions came from starting and stopping.
#include "program.h"
        BEGIN
        xorl %edi, %edi
        movl $60, %eax
        syscall
        .section .note.GNU-stack, "", @progbits
