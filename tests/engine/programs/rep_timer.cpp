// A timer of 5 ms during gigabytes of `rep movsb` and `rep stosb`. The instructions are a fixed number plus the
// handler's four (two here, two of the restorer) for each run, and the number of runs is printed. Argument: 1 moves 2 x
// 4 GiB with the timer on; without it a few bytes are moved and the timer stays off, with the same instructions.
#include "tests/engine/programs/bare.hpp"

namespace {

asm(R"(
        .globl tick
tick:   incq ticks(%rip)
        ret
        .globl work
work:   movq %rdi, %r8
        movq %rsi, %r9
        movq %rdx, %r10
1:      leaq (%r8), %rdi
        movq %r9, %rcx
        movl $0x5a, %eax
        rep stosb
        leaq 64(%r8), %rsi
        leaq (%r8), %rdi
        leaq -64(%r9), %rcx
        rep movsb
        decq %r10
        jnz 1b
        movq %rdi, %rax
        subq %r8, %rax
        ret
)");
extern "C" void tick(int, bare::Info*, ucontext_t*);
extern "C" uint64_t work(uint8_t* at, uint64_t bytes, uint64_t rounds);
extern "C" volatile uint64_t ticks;
volatile uint64_t ticks = 0;

struct Timer {
  long every_s, every_us, first_s, first_us;
};

}  // namespace

extern "C" int program(int argc, char**, char**) {
  using namespace bare;
  constexpr uint64_t area = 64ull << 20;
  constexpr uint64_t rounds = 64;
  static const uint64_t sizes[] = {128, area};
  static const Timer timers[] = {{0, 0, 0, 0}, {0, 5000, 0, 5000}};
  static const Timer off{0, 0, 0, 0};
  const int big = argc > 1;
  uint8_t* at = map(area, prot_read | prot_write);
  handle(sig_alrm, tick, sa_restart);
  check(call(__NR_setitimer, 0, address(&timers[big])) == 0);
  check(work(at, sizes[big], rounds) == sizes[big] - 64);
  check(call(__NR_setitimer, 0, address(&off)) == 0);
  check(at[0] == 0x5a && at[sizes[big] - 1] == 0x5a);
  print(ticks);
  return 0;
}
