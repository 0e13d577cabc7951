// N iterations of two calls, a call through a register, and four jumps through registers; N >= 1. No two kinds occur
// equally often, so that a wrong classification shows.
#include "program.h"
        BEGIN
        adr x1, 9f
        adr x2, 2f
        adr x3, 3f
        adr x4, 4f
        adr x5, 5f
        SET(n, x6)
1:      bl 9f
        bl 9f
        blr x1
        br x2
2:      br x3
3:      br x4
4:      br x5
5:      subs x6, x6, #1
        b.ne 1b
#include "end.h"
9:      ret
        .section .note.GNU-stack, "", @progbits
