// Instructions that change the stack pointer: enter and leave at several nesting levels; pushes and pops of 16 bits,
// memory, fs and rsp itself; pushes of immediates.
#include "tests/engine/programs/bare.hpp"

namespace {

asm(R"(
        .globl frames
frames: pushq %rbp
        movq %rsp, %rbp
        movq %rsp, %rdx
        enter $32, $0
        movq %rbp, %rax
        subq %rsp, %rax
        leave
        enter $16, $1
        leaq (%rbp), %rcx
        cmpq -8(%rbp), %rcx
        jne 9f
        enter $16, $2
        movq -16(%rbp), %rcx
        cmpq %rbp, %rcx
        jne 9f
        enter $8, $5
        leave
        leave
        leave
        cmpq %rsp, %rdx
        jne 9f
        popq %rbp
        ret
9:      ud2

        .globl pushes
pushes: movq %rsp, %rdx
        pushw $0x1234
        pushw %ax
        popw %cx
        popw %ax
        movzwl %ax, %eax
        pushq $-1
        pushq $0x12345678
        popq %rcx
        addq %rcx, %rax
        popq %rcx
        addq %rcx, %rax
        pushq %rsp
        popq %rcx
        cmpq %rcx, %rdx
        jne 9f
        pushq %rsp
        popq %rsp
        cmpq %rsp, %rdx
        jne 9f
        pushq $5
        pushq (%rsp)
        popq (%rsp)
        pushw (%rsp)
        popw 4(%rsp)
        popq %rcx
        cmpq %rsp, %rdx
        jne 9f
        addq %rcx, %rax
        pushq %fs
        popq %rcx
        addq %rcx, %rax
        pushq $0
        popq %fs
        leaq -4096(%rsp), %rsp
        andq $-64, %rsp
        movq $3, (%rsp)
        addq (%rsp), %rax
        movq %rdx, %rsp
        cmpq %rsp, %rdx
        jne 9f
        ret
9:      ud2
)");
extern "C" uint64_t frames(), pushes();

}  // namespace

extern "C" int program(int, char**, char**) {
  for (int i = 0; i < 30; ++i) {
    bare::check(frames() == 32);
    bare::check(pushes() == 0x1234 + 0x12345678 - 1 + 0x0000000500000005 + 3);
  }
  return 0;
}
