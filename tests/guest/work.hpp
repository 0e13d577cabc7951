// Work of a known number of instructions, to be within a region.
#pragma once

#include <cstdint>

namespace tally::hardware_test {

// Executes 2 + 5 · n instructions.
inline void work(std::uint64_t n) {
#if defined(__aarch64__)
  std::uint64_t product;
  asm volatile(
      "mov %1, #1\n"
      "nop\n"
      "1: mul %1, %1, %0\n"
      "nop\n"
      "nop\n"
      "subs %0, %0, #1\n"
      "b.ne 1b\n"
      : "+r"(n), "=&r"(product)
      :
      : "cc");
#elif defined(__x86_64__)
  std::uint64_t product;
  asm volatile(
      "mov $1, %1\n"
      "nop\n"
      "1: imul %0, %1\n"
      "nop\n"
      "nop\n"
      "dec %0\n"
      "jnz 1b\n"
      : "+r"(n), "=&r"(product)
      :
      : "cc");
#endif
}

}  // namespace tally::hardware_test
