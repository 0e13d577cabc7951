// C = A * B, N x N integers of 32 bits, A and B filled with 2 first.
#define CELLS (N * N)
#define ROW (4 * N)

        .text
        .globl _start
_start: movq $a, %rdi
        movq $b, %rsi
        movl $CELLS, %ecx
fill:   movl $2, (%rdi)
        movl $2, (%rsi)
        addq $4, %rdi
        addq $4, %rsi
        decl %ecx
        jnz fill

        movq $c, %rdi
        movq $a, %rsi
        movl $N, %r8d
row:    movq $b, %rbx
        movl $N, %r9d
cell:   xorl %eax, %eax
        movq %rsi, %r10
        movq %rbx, %r11
        movl $N, %ecx
term:   movl (%r10), %edx
        imull (%r11), %edx
        addl %edx, %eax
        addq $4, %r10
        addq $ROW, %r11
        decl %ecx
        jnz term
        movl %eax, (%rdi)
        addq $4, %rdi
        addq $4, %rbx
        decl %r9d
        jnz cell
        addq $ROW, %rsi
        decl %r8d
        jnz row

        xorl %edi, %edi
        movl $60, %eax
        syscall

        .bss
        .balign 4096
a:      .skip 4 * CELLS
b:      .skip 4 * CELLS
c:      .skip 4 * CELLS
        .section .note.GNU-stack, "", @progbits
