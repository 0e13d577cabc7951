// A timer of 1 ms during a loop with a call that returns to another address in one of four rounds: the engine optimizes
// the path over the usual return, and the program leaves it again and again. As in rep_timer, the instructions are a
// fixed number plus the handler's four for each run. Argument: any, to turn the timer on.
#include "tests/engine/programs/bare.hpp"

namespace {

asm(R"(
        .globl tick
tick:   incq ticks(%rip)
        ret

        .globl leaf
# Returns to after the nops in one of four rounds, without a branch.
leaf:   movl %ecx, %edx
        andl $3, %edx
        incl %edx
        andl $4, %edx
        addq %rdx, (%rsp)
        ret

        .globl work
work:   movq %rdi, %rcx
        xorl %eax, %eax
# Each round 14 instructions: 11 and, in the mean of four, 3 * 4 / 4.
1:      call leaf
        nop
        nop
        nop
        nop
        leaq 1(%rax), %rax
        leaq -1(%rcx), %rcx
        jrcxz 2f
        jmp 1b
2:      ret
)");
extern "C" void tick(int, bare::Info*, ucontext_t*);
extern "C" uint64_t work(uint64_t rounds);
extern "C" volatile uint64_t ticks;
volatile uint64_t ticks = 0;

struct Timer {
  long every_s, every_us, first_s, first_us;
};

}  // namespace

extern "C" int program(int argc, char**, char**) {
  using namespace bare;
  static const Timer timers[] = {{0, 0, 0, 0}, {0, 1000, 0, 1000}};
  static const Timer off{0, 0, 0, 0};
  const int on = argc > 1;
  handle(sig_alrm, tick, sa_restart);
  check(call(__NR_setitimer, 0, address(&timers[on])) == 0);
  const uint64_t rounds = on ? 20000000 : 4000;
  check(work(rounds) == rounds);
  check(call(__NR_setitimer, 0, address(&off)) == 0);
  print(ticks);
  print(rounds);
  return 0;
}
