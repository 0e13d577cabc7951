// A program with a region of known work, entered a thousand times; its argument says what is counted.
#include <cstdint>
#include <cstdio>

#include "tally/tally.hpp"

namespace {

// 2 + 5 · 20 instructions, and the one that loads the 20.
void work() {
  std::uint64_t n = 20;
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
#else
  asm volatile("" : "+r"(n));
#endif
}

// By itself: of a region in a loop compilers do a part before the loop.
[[gnu::noinline]] void enter(tally::Counters& counters) {
  const tally::Region region{counters, "work"};
  work();
}

}  // namespace

int main(int argc, char** argv) {
  auto counters = tally::Counters::open({argc > 1 ? argv[1] : "instructions"});
  if (!counters) {
    std::puts(counters.error().message.c_str());
    return 1;
  }
  for (int i = 0; i < 1000; ++i) enter(*counters);
}
