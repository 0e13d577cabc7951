// Asks the kernel for its own process's number N times, 1 <= N < 2^31: what the kernel does must not count.
        .text
        .globl _start
_start: movl $N, %ebx
again:  movl $39, %eax
        syscall
        decl %ebx
        jnz again
        xorl %edi, %edi
        movl $60, %eax
        syscall
        .section .note.GNU-stack, "", @progbits
