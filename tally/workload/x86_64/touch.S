// Reads and writes one word of each of N pages that nobody touched before, 1 <= N < 2^19: N page faults, or somewhat fewer
// where the kernel maps several pages at once.
        .text
        .globl _start
_start: movq $pages, %rsi
        movl $N, %ecx
again:  movq (%rsi), %rax
        movq %rax, (%rsi)
        addq $4096, %rsi
        decl %ecx
        jnz again
        xorl %edi, %edi
        movl $60, %eax
        syscall

        .bss
        .balign 4096
pages:  .skip N * 4096
        .section .note.GNU-stack, "", @progbits
