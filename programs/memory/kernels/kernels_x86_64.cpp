// Intel SDM vol. 2: RDTSCP waits until everything before it has executed, and LFENCE delays what follows; MFENCE before
// the first stamp makes earlier stores visible, so that the timed part does not wait for them.
#include "programs/memory/kernels/flavours.hpp"
#include "programs/memory/kernels/together.hpp"

namespace tally::memory {

Stamp begin_stamp() {
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  std::uint32_t processor = 0;
  asm volatile("mfence\n\trdtscp\n\tlfence" : "=a"(low), "=d"(high), "=c"(processor) : : "memory");
  return {std::uint64_t{high} << 32 | low, processor};
}

Stamp end_stamp() {
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  std::uint32_t processor = 0;
  asm volatile("rdtscp\n\tlfence" : "=a"(low), "=d"(high), "=c"(processor) : : "memory");
  return {std::uint64_t{high} << 32 | low, processor};
}

Timed chase(const std::byte* base, std::uint64_t offset, std::uint64_t steps) {
  const Stamp start = begin_stamp();
  asm volatile(
      ".balign 64\n"
      "0:\tmovq (%[base], %[offset]), %[offset]\n\t"
      "decq %[steps]\n\t"
      "jnz 0b"
      : [offset] "+r"(offset), [steps] "+r"(steps)
      : [base] "r"(base)
      : "memory", "cc");
  return {start, end_stamp(), offset};
}

namespace {

std::uint64_t load_word(const std::byte* base, std::uint64_t offset) {
  asm volatile("movq (%[base], %[offset]), %[offset]" : [offset] "+r"(offset) : [base] "r"(base) : "memory");
  return offset;
}

}  // namespace

Timed chase_together(const std::byte* base, std::uint64_t* offsets, int rings, std::uint64_t steps) {
  return chase_rings_of<load_word>(base, offsets, rings, steps, std::make_index_sequence<most_rings>());
}

Timed store_and_load(std::byte* base, std::uint64_t store_at, std::uint64_t load_at, std::uint64_t steps) {
  std::uint64_t value = 0;
  const Stamp start = begin_stamp();
  asm volatile(
      ".balign 64\n"
      "0:\tmovq %[value], (%[base], %[store_at])\n\t"
      "movq (%[base], %[load_at]), %[value]\n\t"
      "decq %[steps]\n\t"
      "jnz 0b"
      : [value] "+r"(value), [steps] "+r"(steps)
      : [base] "r"(base), [store_at] "r"(store_at), [load_at] "r"(load_at)
      : "memory", "cc");
  return {start, end_stamp(), value};
}

Timed adds(std::uint64_t count) {
  std::uint64_t sum = 0;
  std::uint64_t rounds = count / 16;
  const Stamp start = begin_stamp();
  asm volatile(
      ".balign 64\n"
      "0:\t.rept 16\n\t"
      "addq %[rounds], %[sum]\n\t"
      ".endr\n\t"
      "decq %[rounds]\n\t"
      "jnz 0b"
      : [sum] "+r"(sum), [rounds] "+r"(rounds)
      :
      : "cc");
  return {start, end_stamp(), sum};
}

Timed nothing() {
  const Stamp start = begin_stamp();
  asm volatile("mfence" : : : "memory");
  return {start, end_stamp(), 0};
}

bool flush(const std::byte* first, std::size_t bytes, std::size_t line) {
  for (std::size_t offset = 0; offset < bytes; offset += line) {
    asm volatile("clflush (%0)" : : "r"(first + offset) : "memory");
  }
  asm volatile("mfence" : : : "memory");
  return true;
}

}  // namespace tally::memory
