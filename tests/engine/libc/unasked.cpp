// Executes AVX2 and BMI2 without asking whether the processor has them, and keeps a vector register across a handler.
#include <signal.h>
#include <stdint.h>
#include <stdio.h>

extern "C" {

/// 1000 additions of AVX2.
__attribute__((noinline)) uint64_t hidden_vectors() {
  uint64_t sums[4];
  asm volatile(
      "vpcmpeqd %%ymm1, %%ymm1, %%ymm1\n vpxor %%ymm0, %%ymm0, %%ymm0\n mov $1000, %%ecx\n"
      "1: vpsubq %%ymm1, %%ymm0, %%ymm0\n dec %%ecx\n jnz 1b\n vmovdqu %%ymm0, %0\n"
      : "=m"(sums)::"rcx", "xmm0", "xmm1", "cc");
  return sums[0] + sums[3];
}

/// 500 deposits of BMI2, which must not change the flags.
__attribute__((noinline)) uint64_t hidden_bits() {
  uint64_t bits = 0x55, carries = 0;
  asm volatile(
      "mov $500, %%ecx\n"
      "1: stc\n pdep %0, %0, %0\n adc $0, %1\n clc\n dec %%ecx\n jnz 1b\n"
      : "+r"(bits), "+r"(carries)::"rcx", "cc");
  return carries;
}

void clobber(int) { asm volatile("vpxor %%ymm5, %%ymm5, %%ymm5" ::: "xmm5"); }
}

int main() {
  signal(SIGUSR1, clobber);
  uint64_t kept[4] = {1, 2, 3, 4}, after[4] = {};
  asm volatile("vmovdqu %0, %%ymm5" ::"m"(kept) : "xmm5");
  const uint64_t sum = hidden_vectors(), carries = hidden_bits();
  asm volatile("vmovdqu %1, %%ymm5\n mov %2, %%edi\n mov %3, %%esi\n mov $200, %%eax\n syscall\n vmovdqu %%ymm5, %0"
               : "=m"(after)
               : "m"(kept), "r"([] {
                   int id;
                   asm volatile("syscall" : "=a"(id) : "a"(186) : "rcx", "r11", "memory");
                   return id;
                 }()),
                 "i"(SIGUSR1)
               : "rax", "rcx", "rdi", "rsi", "r11", "xmm5", "memory");
  printf("%ju %ju %ju\n", static_cast<uintmax_t>(sum), static_cast<uintmax_t>(carries),
         static_cast<uintmax_t>(after[0] + 10 * after[3]));
}
