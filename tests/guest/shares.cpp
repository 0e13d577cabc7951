// shares TURNS: heavy counts down from three times TURNS, light from TURNS, two instructions a turn; both are called
// alternately, ten times each.
#include <cstdlib>

namespace {

__attribute__((always_inline)) inline void count_down(long turns) {
#if defined(__aarch64__)
  asm volatile("1: subs %0, %0, #1\n b.ne 1b" : "+r"(turns) : : "cc");
#else
  asm volatile("1: decq %0\n jnz 1b" : "+r"(turns) : : "cc");
#endif
}

}  // namespace

// gcc for x86-64 makes no frame for functions that call nothing and need no stack.
extern "C" __attribute__((noinline)) void heavy(long turns) {
  volatile long kept = 3 * turns;
  count_down(kept);
}
extern "C" __attribute__((noinline)) void light(long turns) {
  volatile long kept = turns;
  count_down(kept);
}
extern "C" __attribute__((noinline)) void both(long turns) {
  for (int i = 0; i < 10; ++i) {
    heavy(turns);
    light(turns);
  }
  asm volatile("");  // prevents a tail call of the last one
}

int main(int argc, char** argv) {
  both(argc > 1 ? std::atol(argv[1]) : 100000);
  return 0;
}
