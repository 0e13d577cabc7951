// Accesses relative to rip in every width, with and without an immediate after the displacement, and the longest
// addressing forms. A copy of the code at another address must still access the same data.
#include "tests/engine/programs/bare.hpp"

namespace {

asm(R"(
        .globl relative
relative:
        xorl %eax, %eax
        movb $1, cell(%rip)
        movw $0x102, cell+2(%rip)
        movl $0x1020304, cell+4(%rip)
        movq $-2, cell+8(%rip)
        movb cell(%rip), %cl
        movzbl %cl, %ecx
        addl %ecx, %eax
        movzwl cell+2(%rip), %ecx
        addl %ecx, %eax
        addl cell+4(%rip), %eax
        subq cell+8(%rip), %rax
        incb cell(%rip)
        addb $5, cell(%rip)
        addw $500, cell+2(%rip)
        addl $50000, cell+4(%rip)
        addq $50000, cell+8(%rip)
        rolq $4, cell+8(%rip)
        shlw %cl, cell+2(%rip)
        btsl $3, cell+4(%rip)
        cmpb $7, cell(%rip)
        jne 9f
        testl $8, cell+4(%rip)
        jz 9f
        imull $3, cell+4(%rip), %ecx
        addl %ecx, %eax
        imulq $300, cell+8(%rip), %rcx
        addq %rcx, %rax
        movslq cell+4(%rip), %rcx
        xorq %rcx, %rax
        xchgl %ecx, cell+4(%rip)
        lock xaddq %rcx, cell+8(%rip)
        pushq cell+8(%rip)
        popq cell+16(%rip)
        addq cell+16(%rip), %rax
        leaq cell(%rip), %rdx
        leaq relative(%rip), %rcx
        subq %rcx, %rdx
        movabsq $cell, %rcx
        subq $relative, %rcx
        cmpq %rdx, %rcx
        jne 9f
        cmove cell+8(%rip), %rdx
        sete cell(%rip)
        addb cell(%rip), %al
        ret
9:      ud2

        .globl vectors
vectors:
        movd number(%rip), %xmm0
        movq number(%rip), %xmm1
        movups number(%rip), %xmm2
        paddd number(%rip), %xmm0
        pshufd $0x1b, number(%rip), %xmm3
        paddd %xmm1, %xmm0
        paddd %xmm2, %xmm0
        paddd %xmm3, %xmm0
        movaps %xmm0, result(%rip)
        cvtsi2sdl number(%rip), %xmm4
        addsd real(%rip), %xmm4
        movsd %xmm4, result+16(%rip)
        fldl real(%rip)
        fiaddl number(%rip)
        fstpl result+24(%rip)
        ldmxcsr control(%rip)
        stmxcsr result+32(%rip)
        fnstcw result+36(%rip)
        fldcw result+36(%rip)
        movl $3, %ecx
        pextrd $2, %xmm0, result+40(%rip)
        ret

        .globl wide
wide:   vmovdqu number(%rip), %ymm0
        vpaddd number(%rip), %ymm0, %ymm0
        vpermq $0x1b, number(%rip), %ymm1
        vpaddd %ymm1, %ymm0, %ymm0
        vmovdqu %ymm0, result(%rip)
        vextracti128 $1, %ymm0, result+32(%rip)
        vzeroupper
        ret

        .globl complex
# Base, index, scale, displacement of both lengths, segment overrides, fs, absolute addresses of 32 bits.
complex:
        leaq words(%rip), %rdi
        movl $2, %ecx
        movl 4(%rdi,%rcx,4), %eax
        addl 0x100(%rdi,%rcx,2), %eax
        addl words(,%rcx,4), %eax
        addl words, %eax
        addl %ds:(%rdi), %eax
        leal words(%rip), %edx
        addl (%edx), %eax
        addl 8(%edx,%ecx,4), %eax
        movq %rsp, %r8
        pushq $7
        addl (%rsp), %eax
        popq %rdx
        cmpq %rsp, %r8
        jne 9f
        leaq words(%rip), %rbx
        xlatb
        ret
9:      ud2

        .data
        .balign 64
cell:   .quad 0, 0, 0
        .balign 64
number: .long 1, 2, 3, 4, 5, 6, 7, 8
real:   .double 2.5
control: .long 0x1f80
words:  .long 10, 20, 30, 40, 50, 60
        .skip 0x200
        .bss
        .balign 64
result: .skip 64
        .text
)");
extern "C" uint64_t relative();
extern "C" int complex();
extern "C" void vectors(), wide();
extern "C" uint32_t number[8], result[16];

}  // namespace

extern "C" int program(int, char**, char**) {
  using bare::check;
  const uint64_t first = relative();
  for (int i = 0; i < 20; ++i) {
    check(relative() == first);
    vectors();
    check(result[0] == 1 + 1 + 1 + 1 + 4 && result[2] == 3 + 3 + 2 && result[10] == result[2]);
    double sums[2];
    __builtin_memcpy(sums, &result[4], sizeof sums);
    check(sums[0] == 3.5 && sums[1] == 3.5);
    check(result[8] == 0x1f80);
    if (bare::has(bare::avx2)) {
      wide();
      check(result[0] == 1 + 1 + 7 && result[7] == 8 + 8 + 2 && result[8] == result[4]);
    }
    check(complex() == 0);
  }
  return 0;
}
