// Counts down from N: 1 <= N < 2^31. The loop is two instructions.
#include "program.h"
        BEGIN
        SET(n, x0)
1:      subs x0, x0, #1
        b.ne 1b
#include "end.h"
        .section .note.GNU-stack, "", @progbits
