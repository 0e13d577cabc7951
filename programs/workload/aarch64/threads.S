// Runs N threads at the same time, each counting down from K, then waits for each in turn (the kernel clears the word
// at the start of the thread's 4 KiB and wakes the waiter: CLONE_CHILD_CLEARTID, futex). Uses no stack.
#include "program.h"
        BEGIN
        PLACE(first, x19)
        SET(n, x20)
1:      mov x8, #220
        movz x0, #0x0f00
        movk x0, #0x35, lsl #16
        add x1, x19, #4096
        mov x2, x19
        mov x3, #0
        mov x4, x19
        svc #0
        cbz x0, 3f
        str w0, [x19, #8]
        add x19, x19, #4096
        subs x20, x20, #1
        b.ne 1b
        PLACE(first, x19)
        SET(n, x20)
2:      mov x8, #98
        mov x0, x19
        mov x1, #0
        ldr w2, [x19, #8]
        mov x3, #0
        svc #0
        add x19, x19, #4096
        subs x20, x20, #1
        b.ne 2b
        mov x0, #0
        mov x8, #94
        svc #0
3:      SET(k, x1)
4:      subs x1, x1, #1
        b.ne 4b
#include "end.h"
        .section .note.GNU-stack, "", @progbits
