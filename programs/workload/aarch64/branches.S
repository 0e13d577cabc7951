// N iterations with a conditional branch over a nop and the loop's branch. TAKEN: always, never, alternating (first not
// taken), random (xorshift, 32 bits, with a seed that is not 0).
#include "program.h"
#undef PATTERN
#define PATTERN_always 1
#define PATTERN_never 2
#define PATTERN_alternating 3
#define PATTERN_random 4
#define PATTERN STRING(PATTERN_, TAKEN, )
        BEGIN
#if PATTERN == 4
        SET(seed, x0)
#else
        mov w0, #0
#endif
        SET(n, x1)
1:
#if PATTERN == 1
        cmp w0, w0
        b.eq 2f
#elif PATTERN == 2
        cmp w0, w0
        b.ne 2f
#elif PATTERN == 3
        eor w0, w0, #1
        cbz w0, 2f
#else
        eor w0, w0, w0, lsl #13
        eor w0, w0, w0, lsr #17
        eor w0, w0, w0, lsl #5
        tbz w0, #16, 2f
#endif
        nop
2:      subs x1, x1, #1
        b.ne 1b
#include "end.h"
        .section .note.GNU-stack, "", @progbits
