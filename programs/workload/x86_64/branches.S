// N iterations with a conditional branch over a nop and the loop's branch. TAKEN: always, never, alternating (first not
// taken), random (xorshift, 32 bits, with a seed that is not 0).
#include "program.h"
#undef PATTERN
#define PATTERN_always 1
#define PATTERN_never 2
#define PATTERN_alternating 3
#define PATTERN_random 4
#undef JOIN
#undef JOINED
#define JOINED(a, b) a##b
#define JOIN(a, b) JOINED(a, b)
#define PATTERN JOIN(PATTERN_, TAKEN)
        BEGIN
#if PATTERN == 4
        SET(movl, seed, %eax)
#else
        xorl %eax, %eax
#endif
        SET(movl, n, %ecx)
1:
#if PATTERN == 1
        xorl %eax, %eax
        jz 2f
#elif PATTERN == 2
        cmpl %eax, %eax
        jnz 2f
#elif PATTERN == 3
        xorl $1, %eax
        jz 2f
#else
        movl %eax, %edx
        shll $13, %edx
        xorl %edx, %eax
        movl %eax, %edx
        shrl $17, %edx
        xorl %edx, %eax
        movl %eax, %edx
        shll $5, %edx
        xorl %edx, %eax
        testl $0x10000, %eax
        jz 2f
#endif
        nop
2:      decl %ecx
        jnz 1b
        xorl %edi, %edi
        movl $60, %eax
        syscall
        .section .note.GNU-stack, "", @progbits
