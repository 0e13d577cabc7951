// Loads that find the previous line for a while, then another one each time, then the first one again, all in one loop
// with a load at a fixed address that crosses two lines, and few registers to spare.
#include "tests/engine/programs/bare.hpp"

namespace {

asm(R"(
        .data
        .balign 4096
across_lines: .skip 128
        .text
        .globl walk_about
# walk_about(memory, steps, stride, mask): returns the last value that was loaded.
walk_about:
        pushq %rbx
        pushq %rbp
        pushq %r12
        pushq %r13
        pushq %r14
        pushq %r15
        xorl %eax, %eax
        xorl %r11d, %r11d
        xorl %r15d, %r15d
        movq %rdx, %r8
        movq %rcx, %r9
        xorl %ecx, %ecx
1:      movq across_lines+60(%rip), %rax
        addq $0, %rbx
        addq $0, %rdx
        addq $0, %rbp
        addq $0, %r8
        addq $0, %r9
        addq $0, %r10
        addq $0, %r12
        addq $0, %r13
        addq $0, %r14
        addq $0, %r15
        addq $0, %rsi
        movq (%rdi,%rcx), %r11
        addq %r8, %rcx
        andq %r9, %rcx
        decq %rsi
        jnz 1b
        addq %r11, %rax
        popq %r15
        popq %r14
        popq %r13
        popq %r12
        popq %rbp
        popq %rbx
        ret
)");
extern "C" uint64_t walk_about(const void* memory, uint64_t steps, uint64_t stride, uint64_t mask);

}  // namespace

extern "C" int program(int, char**, char**) {
  constexpr uint64_t bytes = 1 << 21;
  // After the sets of the access that crosses two lines: nothing else is recorded there.
  const uint8_t* const memory = bare::map(2 * bytes, bare::prot_read | bare::prot_write) + 1024;
  // A system call between walks: code is re-created there.
  for (int i = 0; i < 60; ++i) {
    const bool restless = i % 12 < 8;
    bare::check(walk_about(memory, 100'000, restless ? 4096 : 8, restless ? bytes - 1 : 63) == 0);
    for (int call = 0; call < 10; ++call) bare::call(__NR_getppid);
  }
  return 0;
}
