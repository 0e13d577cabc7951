// Calls and returns that are not paired: deep recursion, ret that pops arguments, push and ret as a jump, a return
// address that is read, moved, dropped or changed.
#include "tests/engine/programs/bare.hpp"

namespace {

asm(R"(
        .globl deep
deep:   testl %edi, %edi
        jz 1f
        decl %edi
        call deep
        incl %eax
        ret
1:      xorl %eax, %eax
        ret

        .globl pops
pops:   movq %rsp, %rdx
        pushq $30
        pushq $12
        call add_two
        cmpq %rsp, %rdx
        je 1f
        xorl %eax, %eax
        movq %rdx, %rsp
1:      ret
add_two:
        movl 8(%rsp), %eax
        addl 16(%rsp), %eax
        ret $16

        .globl push_ret
push_ret:
        leaq 1f(%rip), %rax
        pushq %rax
        ret
        ud2
1:      pushq $1f
        ret
        ud2
1:      movl $5, %eax
        ret

        .globl own_address
# The return address must be the program's, not the translator's: a call of the next instruction, popped and compared.
own_address:
        call 1f
1:      popq %rax
        leaq 1b(%rip), %rcx
        subq %rcx, %rax
        ret

        .globl dropped
# The callee drops its own frame and returns to its caller's caller.
dropped:
        call 1f
        ud2
1:      addq $8, %rsp
        movl $6, %eax
        ret

        .globl changed
# The callee returns to after the ud2 that follows the call.
changed:
        call 1f
        ud2
        movl $8, %eax
        ret
1:      addq $2, (%rsp)
        ret

        .globl switched
# Coroutines: two stacks that return into each other.
switched:
        leaq side_top(%rip), %rdx
        leaq 3f(%rip), %rax
        movq %rax, -8(%rdx)
        subq $8, %rdx
        xorl %eax, %eax
        movl $10, %ecx
1:      call 2f
        decl %ecx
        jnz 1b
        ret
2:      xchgq %rsp, %rdx
        ret
3:      incl %eax
        call 2b
        addl $100, %eax
        call 2b
        jmp 3b

        .bss
        .balign 16
        .skip 4096
side_top:
        .text
)");
extern "C" int deep(int), pops(), push_ret(), own_address(), dropped(), changed(), switched();

}  // namespace

extern "C" int program(int, char**, char**) {
  using bare::check;
  check(deep(4000) == 4000);
  for (int i = 0; i < 50; ++i) {
    check(pops() == 42);
    check(push_ret() == 5);
    check(own_address() == 0);
    check(dropped() == 6);
    check(changed() == 8);
    check(switched() == 505);
    check(deep(i) == i);
  }
  return 0;
}
