// The factorial of 20 between two reads of the instruction counter; the exit code is their difference, 102. It is the
// first read (a read does not count itself), the three instructions after it, the loop's 97, and the one before the
// second read. Requires that rdpmc is allowed.
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
