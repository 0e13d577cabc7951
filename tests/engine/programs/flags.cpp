// Flags that live across blocks, calls, indirect jumps and system calls, and what pushf and lahf show of them.
#include "tests/engine/programs/bare.hpp"

namespace {

asm(R"(
        .globl add_long
# A 512-bit sum whose carry survives from one round of the loop to the next (lea and jrcxz keep it).
add_long:
        movl $8, %ecx
        clc
1:      movq (%rsi), %rax
        adcq %rax, (%rdi)
        leaq 8(%rsi), %rsi
        leaq 8(%rdi), %rdi
        leaq -1(%rcx), %rcx
        jrcxz 2f
        jmp 1b
2:      setc %al
        movzbl %al, %eax
        ret

        .globl across
# Carry, zero, sign, overflow, parity and adjust through a call, a return, a jump through a register.
across: pushq %rdi
        popfq
        call 1f
        leaq 2f(%rip), %rdx
        jmpq *%rdx
1:      leaq 0(%rdx), %rdx
        ret
2:      jmp 3f
3:      pushfq
        popq %rax
        ret

        .globl with_lahf
with_lahf:
        movl %edi, %eax
        shll $8, %eax
        sahf
        jmp 1f
1:      movl $0, %eax
        lahf
        seto %al
        movzbl %ah, %eax
        ret

        .globl kept_by_inc
kept_by_inc:
        stc
        movl $0, %eax
        jmp 1f
1:      incl %eax
        jmp 2f
2:      setc %al
        decl %eax
        adcl $0, %eax
        ret

        .globl by_syscall
# A system call keeps the flags, and writes them to r11 and the next address to rcx.
by_syscall:
        movl $39, %eax
        xorl %r8d, %r8d
        stc
        syscall
1:      setc %r8b
        leaq 1b(%rip), %rax
        subq %rcx, %rax
        shlq $32, %rax
        movq %r11, %rcx
        andl $0x10fd5, %ecx
        orq %rcx, %rax
        shlq $40, %r8
        orq %r8, %rax
        ret

        .globl push_forms
push_forms:
        movl $0, %eax
        cmpl $1, %eax
        pushfw
        popw %cx
        movzwl %cx, %ecx
        pushfq
        popq %rax
        shlq $32, %rcx
        orq %rcx, %rax
        ret

        .globl with_segment
# Flags from the stack while DS has Linux's user data segment by a selector of privilege 0, not 3.
with_segment:
        movl $0x28, %eax
        movl %eax, %ds
        pushq %rdi
        popfq
        setc %cl
        movl $0, %eax
        movl %eax, %ds
        movzbl %cl, %eax
        ret

        .globl direction
direction:
        std
        jmp 1f
1:      pushfq
        cld
        popq %rax
        ret

        .globl partial
# Flags written one by one: rotate and bt keep most, shifts by zero keep all.
partial:
        movl $0x80000001, %eax
        xorl %ecx, %ecx
        cmpl $1, %ecx
        roll $1, %eax
        jnc 9f
        shll %cl, %eax
        jnc 9f
        btl $31, %eax
        jc 9f
        jz 9f
        cmpl %ecx, %ecx
        btl $0, %eax
        jnc 9f
        jnz 9f
        xorl %eax, %eax
        ret
9:      movl $1, %eax
        ret
)");
extern "C" uint64_t add_long(uint64_t* to, const uint64_t* from), across(uint64_t), with_lahf(uint64_t), kept_by_inc(),
    by_syscall(), push_forms(), with_segment(uint64_t), direction(), partial();

}  // namespace

extern "C" int program(int, char**, char**) {
  using bare::check;
  uint64_t a[8];
  uint64_t b[8];
  for (int i = 0; i < 20; ++i) {
    for (int k = 0; k < 8; ++k) {
      a[k] = ~0ull;
      b[k] = 0;
    }
    b[0] = 1;
    check(add_long(a, b) == 1);
    for (const uint64_t word : a) check(word == 0);

    constexpr uint64_t arithmetic = 0x8d5;
    for (uint64_t set = 0; set < 0x1000; set += 0x101) {
      const uint64_t flags = set & arithmetic;
      check((across(flags | 0x202) & 0xffd) == (flags | 0x200));
    }
    for (uint64_t set = 0; set < 256; set += 17) check(with_lahf(set) == ((set & 0xd5) | 2));
    check(kept_by_inc() == 1);
    // Carry, interrupt flag and the bit that is always one; no trap flag; rcx is the address after the call.
    check((by_syscall() & ~0x44ull) == ((1ull << 40) | 0x201));
    check(push_forms() == ((0x297ull << 32) | 0x297));
    check(with_segment(0x203) == 1 && with_segment(0x202) == 0);
    check((direction() & 0x500) == 0x400);
    check(partial() == 0);
  }
  return 0;
}
