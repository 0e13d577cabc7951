// Forks N children, one after the other. Each counts down from K while the parent waits.
#include "program.h"
        BEGIN
        SET(n, x20)
1:      mov x8, #220
        mov x0, #17
        mov x1, #0
        mov x2, #0
        mov x3, #0
        mov x4, #0
        svc #0
        cbz x0, 2f
        mov x8, #260
        mov x0, #-1
        mov x1, #0
        mov x2, #0
        mov x3, #0
        svc #0
        subs x20, x20, #1
        b.ne 1b
#include "end.h"
2:      SET(k, x1)
3:      subs x1, x1, #1
        b.ne 3b
#include "end.h"
        .section .note.GNU-stack, "", @progbits
