// N accesses of W bytes (1 or 2): the counterparts of x86's string loops. OP: load, store, copy or compare (two loads).
// WARM: maps the buffers again with all pages present (MAP_FIXED, MAP_POPULATE).
#include "program.h"
#undef KIND
#undef WIDE
#undef LOAD
#undef STORE
#define KIND_load 1
#define KIND_store 2
#define KIND_copy 3
#define KIND_compare 4
#define KIND STRING(KIND_, OP, )
#if W == 1
#define LOAD ldrb
#define STORE strb
#else
#define LOAD ldrh
#define STORE strh
#endif
        BEGIN
#if WARM
        mov x8, #222
        PLACE(first, x0)
        SET(bytes, x1)
        mov x2, #3
        mov x3, #0x8032
        mov x4, #-1
        mov x5, #0
        svc #0
#endif
        PLACE(first, x0)
#if KIND >= 3
        PLACE(second, x1)
#endif
        SET(n, x2)
1:
#if KIND == 1
        LOAD w3, [x0], #W
#elif KIND == 2
        STORE wzr, [x0], #W
#elif KIND == 3
        LOAD w3, [x1], #W
        STORE w3, [x0], #W
#else
        LOAD w3, [x1], #W
        LOAD w4, [x0], #W
#endif
        subs x2, x2, #1
        b.ne 1b
#include "end.h"
        .section .note.GNU-stack, "", @progbits
