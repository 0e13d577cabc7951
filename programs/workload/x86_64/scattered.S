// N executions of an instruction whose accesses depend on its registers, each on new lines. The misses follow from the
// rules of the instruction; see tests/cli/scattered_test.cpp.
//   GATHER   vpgatherdd: 8 lines, all but the last element selected
//   GATHER_K vpgatherdq by k3 = 0x5a: 4 of 8 lines
//   SCATTER  vpscatterdd by k1 = 0x8001: the first and last of 16 lines
//   ENTER    a nesting level of 4: three loads below RBP, five stores below RSP, one line each
//   XLAT     one line; the table moves down as AL moves up, with garbage above AL
//   BITS     btsq, each time one line further by the bit number
//   MASKMOV, VMASKMOV, MASK_K
//            maskmovdqu, vpmaskmovd, vmovdqu8: select four bytes at the end of a line; the next line, which they do not
//            write, is loaded
//   XSAVE    x87 and SSE, standard form: lines 0 to 6 and the header's line
//   XSAVEC   SSE, compacted: MXCSR in line 0, lines 2 to 6, the header's line
//   XRSTOR   x87 and SSE from an area of zeros: reads only its header and MXCSR
//   CLZERO   one line each, by an address in its middle
//   FAR      a far jump through memory, which no model counts
        .text
        .globl _start
_start: leaq area(%rip), %rbx
        leaq other(%rip), %r12
        movl $N, %r11d
#if defined GATHER || defined GATHER_K || defined SCATTER
        vpcmpeqd %ymm7, %ymm7, %ymm7
        vpsrldq $4, %ymm7, %ymm6
        vinserti128 $0, %xmm7, %ymm6, %ymm6     // element 7: not selected
        vpxor %xmm1, %xmm1, %xmm1               // indices 0, 64, 128 … without a load
        movl $64, %eax
        vpinsrd $1, %eax, %xmm1, %xmm1
        movl $128, %eax
        vpinsrd $2, %eax, %xmm1, %xmm1
        movl $192, %eax
        vpinsrd $3, %eax, %xmm1, %xmm1
        movl $256, %eax
        vmovd %eax, %xmm2
        vpbroadcastd %xmm2, %xmm2
        vpaddd %xmm1, %xmm2, %xmm3
        vinserti128 $1, %xmm3, %ymm1, %ymm1
#endif
#ifdef SCATTER
        vpbroadcastd %xmm2, %ymm2
        vpaddd %ymm2, %ymm2, %ymm2
        vpaddd %ymm1, %ymm2, %ymm3
        vinserti64x4 $1, %ymm3, %zmm1, %zmm1
#endif
#if defined MASKMOV || defined VMASKMOV || defined MASK_K
        movl $-1, %eax
        movd %eax, %xmm1                        // the first four bytes
#endif
#ifdef MASK_K
        movl $15, %eax
        kmovq %rax, %k1
#endif
#ifdef BITS
        xorl %r12d, %r12d
#endif
again:
#if defined GATHER
        vmovdqa %ymm6, %ymm13
        vmovdqa %ymm1, %ymm9
        vpgatherdd %ymm13, (%rbx,%ymm9), %ymm0
        addq $512, %rbx
#elif defined GATHER_K
        movl $0x5a, %eax
        kmovw %eax, %k3
        vmovdqa64 %zmm1, %zmm25
        vpgatherdq (%rbx,%ymm25), %zmm0{%k3}
        addq $512, %rbx
#elif defined SCATTER
        movl $0x8001, %eax
        kmovw %eax, %k1
        vpscatterdd %zmm0, (%rbx,%zmm1){%k1}
        addq $1024, %rbx
#elif defined ENTER
        addq $64, %rbx
        addq $64, %r12
        movq %rbx, %rbp
        movq %r12, %rsp
        enter $0, $4
#elif defined XLAT
        leaq 192(%r12), %rbx
        movl %r11d, %eax
        andl $127, %eax
        subq %rax, %rbx
        movq $-256, %rcx
        orq %rcx, %rax
        xlat
#elif defined BITS
        btsq %r12, (%rbx)
        addq $512, %r12
#elif defined MASKMOV
        leaq 60(%rbx), %rdi
        movdqa %xmm1, %xmm10
        maskmovdqu %xmm10, %xmm0
        movb 64(%rbx), %al
        addq $128, %rbx
#elif defined VMASKMOV
        vmovdqa %ymm1, %ymm12
        vpmaskmovd 60(%rbx), %ymm12, %ymm0
        movb 64(%rbx), %al
        addq $128, %rbx
#elif defined MASK_K
        vmovdqu8 60(%rbx), %zmm0{%k1}{z}
        movb 64(%rbx), %al
        addq $128, %rbx
#elif defined XSAVE
        movl $3, %eax
        xorl %edx, %edx
        xsave (%rbx)
        addq $1024, %rbx
#elif defined XSAVEC
        movl $2, %eax
        xorl %edx, %edx
        movd %eax, %xmm0
        xsavec (%rbx)
        addq $1024, %rbx
#elif defined XSAVEC_ZEROS
        # The upper half is zero but was loaded, so it is in use until the kernel schedules something else on the
        # processor.
        vmovdqu zeros(%rip), %ymm1
        movl $6, %eax
        xorl %edx, %edx
        movd %eax, %xmm0
        xsavec (%rbx)
        addq $1024, %rbx
#elif defined XRSTOR
        movl $3, %eax
        xorl %edx, %edx
        xrstor (%rbx)
        addq $1024, %rbx
#elif defined CLZERO
        leaq 13(%rbx), %rax
        clzero
        movb (%rbx), %al
        addq $64, %rbx
#elif defined FAR
        ljmpl *behind_it(%rip)
        .pushsection .data
behind_it:
        .long 1f
        .word 0x33                              // the code segment of 64-bit programs
        .popsection
1:
#endif
        decl %r11d
        jnz again
        xorl %edi, %edi
        movl $60, %eax
        syscall
        .bss
        .balign 4096
area:   .skip 1048576
other:  .skip 1048576
zeros:  .skip 64
        .section .note.GNU-stack, "", @progbits
