// A timer of 1 ms during blocks that keep their state in flags, in the red zone and in vectors. As in rep_timer, the
// instructions are a fixed number plus the handler's for each run. Argument: any, to turn the timer on.
#include "tests/engine/programs/bare.hpp"

namespace {

asm(R"(
        .globl tick
# The interrupted address must be the program's own: rip at 168 of the context, flags at 176.
tick:   movq 168(%rdx), %rax
        leaq work(%rip), %rcx
        leaq work_end(%rip), %r8
        cmpq %rcx, %rax
        setb %cl
        cmpq %r8, %rax
        seta %ch
        orb %ch, %cl
        movzbl %cl, %ecx
        addq %rcx, strays(%rip)
        btq $8, 176(%rdx)
        adcq $0, strays(%rip)
        pxor %xmm0, %xmm0
        pxor %xmm7, %xmm7
        incq ticks(%rip)
        ret

        .globl work
work:   movq $0x1111, -8(%rsp)
        movq $0x2222, -120(%rsp)
        xorl %eax, %eax
        xorl %edx, %edx
        movq %rdi, %xmm7
        pxor %xmm6, %xmm6
        movl $1, %r8d
        movq %r8, %xmm0
        leaq 3f(%rip), %r9
        movq %rdi, %rcx
# The carry that bt sets must survive a conditional branch, an indirect jump and a jump until adc uses it.
1:      btq $0, %rcx
        jo 4f
        jmpq *%r9
        ud2
3:      jmp 5f
        ud2
5:      adcq $0, %rax
        paddq %xmm0, %xmm6
        incq -8(%rsp)
        decq -120(%rsp)
        leaq -1(%rcx), %rcx
        jrcxz 6f
        jmp 1b
6:      movq -8(%rsp), %rdx
        addq -120(%rsp), %rdx
        cmpq $0x3333, %rdx
        jne 4f
        movq %xmm6, %rdx
        cmpq %rdi, %rdx
        jne 4f
        movq %xmm7, %rdx
        cmpq %rdi, %rdx
        jne 4f
        ret
4:      xorl %eax, %eax
work_end:
        ret
)");
extern "C" void tick(int, bare::Info*, ucontext_t*);
extern "C" uint64_t work(uint64_t rounds);
extern "C" volatile uint64_t ticks, strays;
volatile uint64_t ticks = 0;
volatile uint64_t strays = 0;

struct Timer {
  long every_s, every_us, first_s, first_us;
};

}  // namespace

extern "C" int program(int argc, char**, char**) {
  using namespace bare;
  // The calls around the loop are not in its address range: a tick there would be counted as a stray.
  static const Timer timers[] = {{0, 0, 0, 0}, {0, 1000, 0, 20000}};
  static const Timer off{0, 0, 0, 0};
  const int on = argc > 1;
  handle(sig_alrm, tick, sa_restart);
  check(call(__NR_setitimer, 0, address(&timers[on])) == 0);
  const uint64_t rounds = on ? 60000000 : 200;
  check(work(rounds) == rounds / 2);
  check(call(__NR_setitimer, 0, address(&off)) == 0);
  print(ticks);
  print(rounds);
  return strays > 1;
}
