// Runs N threads at the same time, each counting down from K, then waits for each in turn (the kernel clears the word
// at the start of the thread's 4 KiB and wakes the waiter: CLONE_CHILD_CLEARTID, futex). Uses no stack.
#include "program.h"
        BEGIN
        SET(movq, first, %r12)
        SET(movl, n, %ebx)
1:      movl $56, %eax
        movl $0x350f00, %edi
        leaq 4096(%r12), %rsi
        movq %r12, %rdx
        movq %r12, %r10
        xorl %r8d, %r8d
        syscall
        testl %eax, %eax
        jz 3f
        movl %eax, 8(%r12)
        addq $4096, %r12
        decl %ebx
        jnz 1b
        SET(movq, first, %r12)
        SET(movl, n, %ebx)
2:      movl $202, %eax
        movq %r12, %rdi
        xorl %esi, %esi
        movl 8(%r12), %edx
        xorl %r10d, %r10d
        syscall
        addq $4096, %r12
        decl %ebx
        jnz 2b
        xorl %edi, %edi
        movl $231, %eax
        syscall
3:      SET(movl, k, %ecx)
4:      decl %ecx
        jnz 4b
        xorl %edi, %edi
        movl $60, %eax
        syscall
        .section .note.GNU-stack, "", @progbits
