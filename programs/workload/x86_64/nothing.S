// Exits at once: any count above these three instructions is due to starting and stopping.
#include "program.h"
        BEGIN
        xorl %edi, %edi
        movl $60, %eax
        syscall
        .section .note.GNU-stack, "", @progbits
