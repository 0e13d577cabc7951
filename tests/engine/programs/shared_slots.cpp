// Jumps through a register to code whose addresses share a slot of the engine's jump table, in turn: registers and
// flags must survive the search for the target, also with a timer of 1 ms. As in rep_timer, the instructions are a
// fixed number plus the handler's for each run. Arguments: any, to turn the timer on; two, to wait for single signals.
#include "tests/engine/programs/bare.hpp"

namespace {

asm(R"(
        .globl tick
tick:   incq ticks(%rip)
        ret

        .globl work
# rdi = jumps, a multiple of 4; rsi = the first of four targets, rdx = their distance. Returns 0 if nothing was lost.
work:   pushq %rbx
        pushq %r12
        pushq %r13
        pushq %rbp
        leaq 2f(%rip), %rbp
        movq %rdx, %r13
        xorl %ebx, %ebx
        xorl %r12d, %r12d
        movq %rdi, %r8
        movq %rdi, %r10
1:      movl %r8d, %r9d
        andl $3, %r9d
        imulq %r13, %r9
        addq %rsi, %r9
        movl $1, %eax
        movl $2, %edx
        movl $4, %ecx
        movl $8, %r11d
        btq $0, %r8
        jmp *%r9
2:      adcq $0, %rbx
        addq %rax, %r12
        addq %rdx, %r12
        addq %rcx, %r12
        addq %r11, %r12
        decq %r8
        jnz 1b
        leaq (%rbx,%rbx), %rax
        subq %r10, %rax
        imulq $15, %r10
        subq %r10, %r12
        orq %r12, %rax
        popq %rbp
        popq %r13
        popq %r12
        popq %rbx
        ret
)");
extern "C" void tick(int, bare::Info*, ucontext_t*);
extern "C" uint64_t work(uint64_t jumps, const uint8_t* first, uint64_t distance);
extern "C" volatile uint64_t ticks;
volatile uint64_t ticks = 0;

struct Timer {
  long every_s, every_us, first_s, first_us;
};

constexpr uint64_t distance = 65535;  // jump_slot() adds the low 16 bits of an address to the next ones

/// A signal that arrives during the search is delivered, although the program makes no system call.
int wait_for_signals(const uint8_t* first) {
  using namespace bare;
  static const Timer once{0, 0, 0, 500};
  for (uint64_t signals = 0; signals < 100; ++signals) {
    check(call(__NR_setitimer, 0, address(&once)) == 0);
    for (int tries = 0; ticks == signals && tries < 2000; ++tries) check(work(20000, first, distance) == 0);
    check(ticks == signals + 1);
  }
  return 0;
}

}  // namespace

extern "C" int program(int argc, char**, char**) {
  using namespace bare;
  uint8_t* const code = map(4 * 65536, prot_read | prot_write);
  for (uint64_t i = 0; i < 4; ++i) {
    code[16 + i * distance] = 0xff;  // jmp *%rbp
    code[17 + i * distance] = 0xe5;
  }
  protect(code, 4 * 65536, prot_read | prot_exec);
  static const Timer timers[] = {{0, 0, 0, 0}, {0, 1000, 0, 5000}};
  static const Timer off{0, 0, 0, 0};
  const int on = argc > 1;
  handle(sig_alrm, tick, sa_restart);
  if (argc > 2) return wait_for_signals(code + 16);
  check(call(__NR_setitimer, 0, address(&timers[on])) == 0);
  const uint64_t jumps = on ? 8000000 : 400;
  check(work(jumps, code + 16, distance) == 0);
  check(call(__NR_setitimer, 0, address(&off)) == 0);
  print(ticks);
  print(jumps);
  return 0;
}
