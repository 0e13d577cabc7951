// x87, SSE, AVX and AVX-512 registers, MXCSR and the control word survive signals whose handlers change all of them.
#include "tests/engine/programs/bare.hpp"

namespace {

volatile int handled = 0;

alignas(64) uint64_t pattern[8 * 32];
alignas(64) uint64_t seen[8 * 32];
alignas(64) uint64_t masks[8];

__attribute__((target("avx512f,avx512bw"))) void spoil_wide() {
  asm volatile(R"(
        vpxorq %%zmm0, %%zmm0, %%zmm0
        vpternlogd $0xff, %%zmm1, %%zmm1, %%zmm1
        vmovdqa64 %%zmm1, %%zmm15
        vmovdqa64 %%zmm1, %%zmm16
        vmovdqa64 %%zmm1, %%zmm31
        kxnorw %%k1, %%k1, %%k1
        kxnorw %%k7, %%k7, %%k7)" ::
                   : "memory");
}

void spoil(int, bare::Info*, ucontext_t*) {
  const uint32_t control = 0x9fc0;
  asm volatile(
      "pcmpeqd %%xmm0, %%xmm0\n\t movdqa %%xmm0, %%xmm7\n\t pxor %%xmm15, %%xmm15\n\t fninit\n\t fldz\n\t ldmxcsr %0" ::
          "m"(control));
  if (bare::has(bare::avx512)) {
    spoil_wide();
  } else if (bare::has(bare::avx2)) {
    asm volatile("vzeroall");
  }
  handled = handled + 1;
}

// Each form: load the pattern, raise the signal with the registers full, store them.
#define RAISE                                                                              \
  "movl $39, %%eax\n\t syscall\n\t movl %%eax, %%edi\n\t movl $186, %%eax\n\t syscall\n\t" \
  "movl %%eax, %%esi\n\t movl $10, %%edx\n\t movl $234, %%eax\n\t syscall\n\t"

void with_sse_and_x87() {
  uint32_t control = 0x1f80 | 0x6000;
  uint32_t control_after = 0;
  uint16_t word = 0x077f;
  uint16_t word_after = 0;
  double x87 = 0;
  asm volatile(
      ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n\t movdqa \\n*16(%[p]), %%xmm\\n\n\t .endr\n\t"
      "ldmxcsr %[c]\n\t fldcw %[w]\n\t fldpi\n\t fld1\n\t" RAISE
      ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n\t movdqa %%xmm\\n, \\n*16(%[s])\n\t .endr\n\t"
      "stmxcsr %[ca]\n\t fnstcw %[wa]\n\t faddp\n\t fstpl %[x]\n\t fninit"
      : [ca] "=m"(control_after), [wa] "=m"(word_after), [x] "=m"(x87)
      : [p] "r"(pattern), [s] "r"(seen), [c] "m"(control), [w] "m"(word)
      : "rax", "rcx", "rdx", "rsi", "rdi", "r11", "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5",
        "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
  control = 0x1f80;
  asm volatile("ldmxcsr %0" ::"m"(control));
  bare::check(control_after == (0x1f80 | 0x6000) && word_after == 0x077f && x87 > 4.14159 && x87 < 4.1416);
  for (int i = 0; i < 32; ++i) bare::check(seen[i] == pattern[i]);
}

void with_avx() {
  asm volatile(
      ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n\t vmovdqa \\n*32(%[p]), %%ymm\\n\n\t .endr\n\t" RAISE
      ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n\t vmovdqa %%ymm\\n, \\n*32(%[s])\n\t .endr\n\t vzeroupper"
      :
      : [p] "r"(pattern), [s] "r"(seen)
      : "rax", "rcx", "rdx", "rsi", "rdi", "r11", "memory", "cc");
  for (int i = 0; i < 64; ++i) bare::check(seen[i] == pattern[i]);
}

__attribute__((target("avx512f,avx512bw"))) void with_avx512() {
  asm volatile(
      ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n\t"
      "vmovdqa64 \\n*64(%[p]), %%zmm\\n\n\t .endr\n\t"
      "kmovw (%[p]), %%k1\n\t kmovw 8(%[p]), %%k7\n\t" RAISE
      ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n\t"
      "vmovdqa64 %%zmm\\n, \\n*64(%[s])\n\t .endr\n\t"
      "kmovw %%k1, (%[k])\n\t kmovw %%k7, 8(%[k])\n\t vzeroupper"
      :
      : [p] "r"(pattern), [s] "r"(seen), [k] "r"(masks)
      : "rax", "rcx", "rdx", "rsi", "rdi", "r11", "memory", "cc");
  for (int i = 0; i < 256; ++i) bare::check(seen[i] == pattern[i]);
  bare::check(masks[0] == (pattern[0] & 0xffff) && masks[1] == (pattern[1] & 0xffff));
}
#undef RAISE

}  // namespace

extern "C" int program(int, char**, char**) {
  using namespace bare;
  for (uint64_t i = 0; i < 256; ++i) pattern[i] = (i + 1) * 0x9e3779b97f4a7c15;
  handle(sig_usr1, spoil);
  for (int i = 0; i < 20; ++i) with_sse_and_x87();
  check(handled == 20);
  if (has(avx2)) {
    for (int i = 0; i < 20; ++i) with_avx();
  }
  if (has(avx512)) {
    for (int i = 0; i < 20; ++i) with_avx512();
  }
  return 0;
}
