// Conditional branches to the next instruction, taken and not. With an argument the program steps itself over them by
// the trap flag, which adds no conditional branch.
#include "tests/engine/programs/bare.hpp"

extern "C" void on_step();
extern "C" void branches(uint64_t flags);
asm(R"(
.globl on_step, branches
on_step:
  ret
branches:
  pushq %rdi
  popfq
  cmpl %eax, %eax
  jz 1f
1:jnz 1f
1:jbe 1f
1:ja 1f
1:jge 1f
1:jl 1f
1:stc
  jc 1f
1:jnc 1f
1:movl $2, %ecx
  loop 1f
1:loop 1f
1:movl $3, %ecx
  cmpl %eax, %eax
  loope 1f
1:loopne 1f
1:xorl %ecx, %ecx
  jrcxz 1f
1:jecxz 1f
1:incl %ecx
  jrcxz 1f
1:jecxz 1f
1:pushq $0x202
  popfq
  ret
)");

extern "C" int program(int argc, char**, char**) {
  const bare::Action action{reinterpret_cast<void*>(on_step), bare::sa_restorer, bare::restorer, 0};
  bare::check(bare::call(__NR_rt_sigaction, bare::sig_trap, bare::address(&action), 0, 8) == 0);
  branches(0x202 | static_cast<uint64_t>(argc - 1) << 8);
  return 0;
}
