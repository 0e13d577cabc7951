// One string instruction N times over zeroed buffers, driven by `loop` or by a REP prefix (HPCTool's 20 benchmarks).
// OP: lods, stos, movs, scas or cmps; W: 1 or 2, bytes per element; REP: 0 for the loop form, 1 for the prefix; N >= 1.
//
// RAX and the direction flag are 0 at the entry of a static program on Linux, and so are the buffers: REPE runs to the
// end. The 64-bit forms of every instruction are spelt out, for a count must not depend on the assembler's choice.
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

        .text
        .globl _start
_start: xorq %rcx, %rcx
        movq $N, %rcx
#if USES == 1
        movq $first, %rsi
#elif USES == 2
        movq $first, %rdi
#else
        movq $second, %rsi
        movq $first, %rdi
#endif
#if REP
        rep INSTRUCTION
#else
again:  INSTRUCTION
        loop again
#endif
        xorq %rdi, %rdi
        movq $60, %rax
        nop
        syscall

        .bss
first:  .skip N * W
#if USES == 3
second: .skip N * W
#endif
        .section .note.GNU-stack, "", @progbits
