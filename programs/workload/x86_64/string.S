// One string instruction, N times over zeroed buffers, in a `loop` or with a REP prefix (HPCTool's 20 benchmarks). OP:
// lods, stos, movs, scas or cmps; W: bytes per element, 1 or 2; REP: 0 for the loop form, 1 for the prefix; N >= 1.
//
// WARM (shipped only): maps the buffers again with all pages present (MAP_FIXED, MAP_POPULATE), so that the string
// instruction causes no page fault. Clears RAX after the call.
//
// When a static program starts on Linux, RAX, the direction flag and the buffers are 0, so REPE runs to the end. The
// code spells out the 64-bit form of every instruction, because counts must not depend on the assembler's choice.
#include "program.h"
#undef USES
#define PASTE(a, b) a##b
#define CAT(a, b) PASTE(a, b)
#define USES_lods 1
#define USES_stos 2
#define USES_scas 2
#define USES_movs 3
#define USES_cmps 3
#define USES CAT(USES_, OP)
#define SUFFIX_1 b
#define SUFFIX_2 w
#define INSTRUCTION CAT(OP, CAT(SUFFIX_, W))

        BEGIN
#if WARM
        movl $9, %eax
        SET(movq, first, %rdi)
        SET(movl, bytes, %esi)
        movl $3, %edx
        movl $0x8032, %r10d
        movq $-1, %r8
        xorl %r9d, %r9d
        syscall
        xorl %eax, %eax
#endif
        xorq %rcx, %rcx
        SET(movq, n, %rcx)
#if USES == 1
        SET(movq, first, %rsi)
#elif USES == 2
        SET(movq, first, %rdi)
#else
        SET(movq, second, %rsi)
        SET(movq, first, %rdi)
#endif
#if REP
        rep INSTRUCTION
#else
1:      INSTRUCTION
        loop 1b
#endif
        xorq %rdi, %rdi
        movq $60, %rax
        nop
        syscall

#ifndef SHIPPED
        .bss
first:  .skip N * W
#if USES == 3
second: .skip N * W
#endif
#endif
        .section .note.GNU-stack, "", @progbits
