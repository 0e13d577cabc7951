// Every kind of branch, taken and not, with the results of all of them summed into one value; and branches whose target
// is the next instruction, which are also taken or not.
#include "tests/engine/programs/bare.hpp"

namespace {

asm(R"(
        .macro each number
        .byte 0x70 + \number, 4
        leaq 1(%rax), %rax
        .byte 0x71 + \number, 4
        leaq 2(%rax), %rax
        .byte 0x0f, 0x80 + \number
        .long 4
        leaq 16(%rax), %rax
        .byte 0x0f, 0x81 + \number
        .long 4
        leaq 32(%rax), %rax
        .endm

        .globl conditions
# jcc of all sixteen conditions, short and near: a pair adds 2 + 32 if its condition holds, else 1 + 16.
conditions:
        xorl %eax, %eax
        movb $127, %cl
        addb $1, %cl
        each 0
        xorl %ecx, %ecx
        each 0
        stc
        each 2
        clc
        each 2
        xorl %ecx, %ecx
        each 4
        orl $1, %ecx
        each 4
        stc
        each 6
        cmpl $0, %ecx
        each 6
        orl $-1, %ecx
        each 8
        xorl %ecx, %ecx
        each 8
        xorl %ecx, %ecx
        each 10
        orl $1, %ecx
        each 10
        cmpl $2, %ecx
        each 12
        cmpl %ecx, %ecx
        each 12
        cmpl %ecx, %ecx
        each 14
        cmpl $-2, %ecx
        each 14
        ret

        .globl jumps
# Direct short and near, indirect by register, by memory, by memory through rip, and by table.
jumps:  xorl %eax, %eax
        jmp 1f
        ud2
1:      .byte 0xe9
        .long 2f - . - 4
        ud2
2:      incl %eax
        leaq 3f(%rip), %rcx
        jmpq *%rcx
        ud2
3:      incl %eax
        leaq 4f(%rip), %rcx
        movq %rcx, -8(%rsp)
        jmpq *-8(%rsp)
        ud2
4:      incl %eax
        jmpq *through(%rip)
        ud2
landed: incl %eax
        movl $20, %edx
5:      movl %edx, %ecx
        andl $3, %ecx
        leaq table(%rip), %r8
        jmpq *(%r8,%rcx,8)
way0:   addl $1, %eax
        jmp 6f
way1:   addl $10, %eax
        jmp 6f
way2:   addl $100, %eax
        jmp 6f
way3:   addl $1000, %eax
6:      decl %edx
        jnz 5b
        ret

        .globl calls
calls:  xorl %eax, %eax
        call one
        leaq one(%rip), %rcx
        callq *%rcx
        movq %rcx, -64(%rsp)
        callq *-64(%rsp)
        callq *through_one(%rip)
        leaq table_of_calls(%rip), %r8
        movl $1, %ecx
        callq *(%r8,%rcx,8)
        ret
one:    incl %eax
        ret
two:    addl $2, %eax
        repz ret

        .macro short_to_next opcode
        .byte \opcode, 0
        .endm
        .macro all_to_next
        .irp opcode, 0x70, 0x71, 0x72, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7a, 0x7b, 0x7c, 0x7d, 0x7e, 0x7f
        short_to_next \opcode
        .byte 0x0f, \opcode + 16, 0, 0, 0, 0
        .endr
        .irp opcode, 0xe0, 0xe1, 0xe2, 0xe3
        short_to_next \opcode
        .byte 0x67, \opcode, 0
        .endr
        .endm

        .globl to_next
# Each of them with three combinations of flags, and with RCX that becomes zero, is zero, and has a low half of zero.
to_next:
        xorl %eax, %eax
        cmpl $1, %eax
        movl $12, %ecx
        all_to_next
        movb $127, %al
        addb $1, %al
        movl $6, %ecx
        all_to_next
        movq $1, %rcx
        shlq $32, %rcx
        cmpl %eax, %eax
        all_to_next
        xorl %ecx, %ecx
        all_to_next
        movl %ecx, %eax
        ret

        .data
through: .quad landed
through_one: .quad one
table:  .quad way0, way1, way2, way3
table_of_calls: .quad one, two
        .text
)");
extern "C" int conditions(), jumps(), calls(), to_next();

}  // namespace

extern "C" int program(int, char**, char**) {
  for (int i = 0; i < 20; ++i) {
    bare::check(conditions() == 8 * 51);
    bare::check(jumps() == 4 + 5 * 1111);
    bare::check(calls() == 6);
    bare::check(to_next() == -6);
  }
  return 0;
}
