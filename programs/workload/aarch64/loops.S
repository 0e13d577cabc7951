// Nested loops, N times K iterations: the inner branch is taken K - 1 times, then not taken.
#include "program.h"
        BEGIN
        SET(n, x1)
1:      SET(k, x2)
2:      subs x2, x2, #1
        b.ne 2b
        subs x1, x1, #1
        b.ne 1b
#include "end.h"
        .section .note.GNU-stack, "", @progbits
