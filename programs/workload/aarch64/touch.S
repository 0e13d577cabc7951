// Reads and writes a word of each of N untouched pages, 1 <= N < 2^19: N page faults, or somewhat fewer if the kernel
// maps several pages at once.
#include "program.h"
        BEGIN
        PLACE(first, x1)
        SET(n, x0)
1:      ldr x2, [x1]
        str x2, [x1]
        add x1, x1, #4096
        subs x0, x0, #1
        b.ne 1b
#include "end.h"
#ifndef SHIPPED
        .bss
        .balign 4096
first:  .skip N * 4096
#endif
        .section .note.GNU-stack, "", @progbits
