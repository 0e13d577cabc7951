// A timer of 1 ms during a loop with branches that are taken in one of four and in one of two rounds: whichever path
// the engine optimizes, the program leaves it again and again. As in rep_timer, the instructions are a fixed number
// plus the handler's four for each run. Argument: any, to turn the timer on.
#include "tests/engine/programs/bare.hpp"

namespace {

asm(R"(
        .globl tick
tick:   incq ticks(%rip)
        ret

        .globl work
work:   movq %rdi, %rcx
        xorl %eax, %eax
# Each round 13 instructions: 9 and, in the mean of four, 12 / 4 + 2 / 2.
1:      movq %rcx, %rdx
        notq %rdx
        andl $3, %edx
        jnz 2f
        leaq 1(%rax), %rax
        leaq 1(%rax), %rax
        leaq 1(%rax), %rax
        leaq 1(%rax), %rax
        movl %ecx, %esi
        movl %ecx, %esi
        movl %ecx, %esi
        movl %ecx, %esi
        nop
        nop
        nop
        nop
2:      testb $1, %cl
        jz 3f
        leaq 1(%rax), %rax
        nop
3:      leaq -1(%rcx), %rcx
        jrcxz 4f
        jmp 1b
4:      ret
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
  const uint64_t rounds = on ? 40000000 : 4000;
  check(work(rounds) == rounds + rounds / 2);
  check(call(__NR_setitimer, 0, address(&off)) == 0);
  print(ticks);
  print(rounds);
  return 0;
}
