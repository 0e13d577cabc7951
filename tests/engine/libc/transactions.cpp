// Begins transactions and falls back each time, as lock elision does. Stops itself first, so that a debugger can
// attach. transactions TIMES
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

namespace {

/// xbegin to the following instruction, as compilers write it.
unsigned begin() {
  unsigned status = 0xffffffff;
  asm volatile(".byte 0xc7, 0xf8, 0, 0, 0, 0" : "+a"(status)::"memory");
  return status;
}

/// xbegin with a fallback elsewhere, forward and backward, and with a prefix. Six instructions a round.
unsigned long fall_back(unsigned long times) {
  unsigned long fallbacks = 0;
  asm volatile(
      "1: mov $-1, %%eax\n"
      ".byte 0xc7, 0xf8; .long 3f - . - 4\n"
      "2: movl $2, (0)\n"
      "ud2\n"
      "4: inc %0\n"
      "dec %1\n"
      "jnz 1b\n"
      "jmp 5f\n"
      "nop\n"
      "3: .byte 0x48, 0xc7, 0xf8; .long 4b - . - 4\n"
      "ud2\n"
      "5:\n"
      : "+r"(fallbacks), "+r"(times)::"rax", "memory", "cc");
  return fallbacks;
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) return 2;
  puts("ready");
  fflush(stdout);
  raise(SIGSTOP);
  int aborted = 0;
  for (int i = 0; i < 3; ++i) aborted += begin() != 0xffffffff;
  printf("aborted %d times\n", aborted);
  printf("fell back %lu times\n", fall_back(strtoul(words[1], nullptr, 10)));
}
