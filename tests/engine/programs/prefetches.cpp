// Software prefetches: every form, more of them in a row than a signed byte holds, of valid and invalid addresses; and
// the forms of the same opcodes that are not prefetches.
#include "tests/engine/programs/bare.hpp"

extern "C" int program(int, char**, char**) {
  alignas(64) static uint8_t bytes[256];
  for (uint64_t i = 0; i < 100; i++) {
    asm volatile(
        "prefetcht0 (%0)\n prefetcht1 64(%0)\n prefetcht2 (%0, %1)\n prefetchnta 128(%0)\n prefetchw (%0)\n"
        "test $1, %1\n jz 1f\n prefetcht0 (%0)\n 1:\n"
        ".byte 0x0f, 0x18, 0xc0\n"  // a NOP: with a register instead of memory
        "prefetcht0 (%2)"           // of an unmapped address: no fault
        ::"r"(bytes),
        "r"(i), "r"(uint64_t{0x123456789000})
        : "cc");
  }
  asm volatile(".rept 300\n prefetchnta (%0)\n .endr" ::"r"(bytes));
  return 0;
}
