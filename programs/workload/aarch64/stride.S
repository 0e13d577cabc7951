// S passes over an array of A bytes, loading every S-th byte. A and S are powers of two, S <= A.
#include "program.h"
        BEGIN
        SET(stride, x4)
        mov x5, x4
1:      PLACE(first, x1)
        SET(steps, x2)
2:      ldrb w3, [x1]
        add x1, x1, x4
        subs x2, x2, #1
        b.ne 2b
        subs x5, x5, #1
        b.ne 1b
#include "end.h"
        .section .note.GNU-stack, "", @progbits
