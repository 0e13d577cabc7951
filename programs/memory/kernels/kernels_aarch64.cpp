// Arm ARM (DDI 0487), D11.2: reads of CNTVCT_EL0 may execute early, so each has an ISB before and after it; DSB waits
// for earlier accesses.
#include "programs/memory/kernels/flavours.hpp"
#include "programs/memory/kernels/together.hpp"

namespace tally::memory {
namespace {

inline Stamp stamp() {
  std::uint64_t ticks = 0;
  asm volatile("dsb sy\n\tisb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(ticks) : : "memory");
  return {ticks, 0};
}

}  // namespace

Stamp begin_stamp() { return stamp(); }

Stamp end_stamp() { return stamp(); }

Timed chase(const std::byte* base, std::uint64_t offset, std::uint64_t steps) {
  const Stamp start = stamp();
  asm volatile(
      ".balign 64\n"
      "0:\tldr %[offset], [%[base], %[offset]]\n\t"
      "subs %[steps], %[steps], #1\n\t"
      "b.ne 0b"
      : [offset] "+r"(offset), [steps] "+r"(steps)
      : [base] "r"(base)
      : "memory", "cc");
  return {start, stamp(), offset};
}

namespace {

std::uint64_t load_word(const std::byte* base, std::uint64_t offset) {
  asm volatile("ldr %[offset], [%[base], %[offset]]" : [offset] "+r"(offset) : [base] "r"(base) : "memory");
  return offset;
}

}  // namespace

Timed chase_together(const std::byte* base, std::uint64_t* offsets, int rings, std::uint64_t steps) {
  return chase_rings_of<load_word>(base, offsets, rings, steps, std::make_index_sequence<most_rings>());
}

Timed store_and_load(std::byte* base, std::uint64_t store_at, std::uint64_t load_at, std::uint64_t steps) {
  std::uint64_t value = 0;
  const Stamp start = stamp();
  asm volatile(
      ".balign 64\n"
      "0:\tstr %[value], [%[base], %[store_at]]\n\t"
      "ldr %[value], [%[base], %[load_at]]\n\t"
      "subs %[steps], %[steps], #1\n\t"
      "b.ne 0b"
      : [value] "+r"(value), [steps] "+r"(steps)
      : [base] "r"(base), [store_at] "r"(store_at), [load_at] "r"(load_at)
      : "memory", "cc");
  return {start, stamp(), value};
}

Timed adds(std::uint64_t count) {
  std::uint64_t sum = 0;
  std::uint64_t rounds = count / 16;
  const Stamp start = stamp();
  asm volatile(
      ".balign 64\n"
      "0:\t.rept 16\n\t"
      "add %[sum], %[sum], %[rounds]\n\t"
      ".endr\n\t"
      "subs %[rounds], %[rounds], #1\n\t"
      "b.ne 0b"
      : [sum] "+r"(sum), [rounds] "+r"(rounds)
      :
      : "cc");
  return {start, stamp(), sum};
}

Timed nothing() {
  const Stamp start = stamp();
  asm volatile("dsb ish" : : : "memory");
  return {start, stamp(), 0};
}

bool flush(const std::byte* first, std::size_t bytes, std::size_t line) {
  for (std::size_t offset = 0; offset < bytes; offset += line) {
    asm volatile("dc civac, %0" : : "r"(first + offset) : "memory");
  }
  asm volatile("dsb sy" : : : "memory");
  return true;
}

}  // namespace tally::memory
