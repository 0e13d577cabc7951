// S passes over an array of A bytes, loading every S-th byte. A and S are powers of two, S <= A.
        .text
        .globl _start
_start: movl $S, %r8d
pass:   movq $array, %rsi
        movl $(A / S), %ecx
load:   movzbl (%rsi), %eax
        addq $S, %rsi
        decl %ecx
        jnz load
        decl %r8d
        jnz pass
        xorl %edi, %edi
        movl $60, %eax
        syscall

        .bss
        .balign 4096
array:  .skip A
        .section .note.GNU-stack, "", @progbits
