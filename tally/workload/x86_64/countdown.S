// Counts down from N: 1 <= N < 2^31. The loop is two instructions; the nop is there for the same counts on every
// architecture.
        .text
        .globl _start
_start: movq $N, %rcx
        nop
again:  decq %rcx
        jnz again
        xorl %edi, %edi
        movl $60, %eax
        syscall
        .section .note.GNU-stack, "", @progbits
