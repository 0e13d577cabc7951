// The factorial of 20 between two reads of the counter of instructions: its exit code is their difference, 102. A read
// does not see itself: the first one, three instructions behind it, the loop's 97, and one before the second.
// Only where rdpmc may be executed.
#include "program.h"
        BEGIN
        movq $20, %r11
        movq $1, %r12
        movl $0x40000000, %ecx
        rdpmc
        shlq $32, %rdx
        orq %rdx, %rax
        movq %rax, %r10
1:      cmpq $1, %r11
        jle 2f
        imulq %r11, %r12
        decq %r11
        jmp 1b
2:      movl $0x40000000, %ecx
        rdpmc
        shlq $32, %rdx
        orq %rdx, %rax
        subq %r10, %rax
        movl %eax, %edi
        movl $60, %eax
        syscall
        .section .note.GNU-stack, "", @progbits
