// A leaf function that uses the bytes below rsp: 128 bytes there survive branches of every kind, system calls, signals
// and faults.
#include "tests/engine/programs/bare.hpp"

namespace {

volatile int handled = 0;
uint8_t* closed;

void use_stack(int signal, bare::Info*, ucontext_t* context) {
  volatile uint8_t room[600];
  for (size_t i = 0; i < sizeof room; i += 8) room[i] = 0xee;
  handled = handled + 1;
  if (signal == bare::sig_segv) bare::reg(context, REG_RIP) += 3;
  if (signal == bare::sig_fpe) bare::reg(context, REG_RSI) = 1;
}

asm(R"(
        .globl live_below
# live_below(tid, pid, closed): every word of the red zone holds its own number and is summed at the end.
live_below:
        movq %rdi, %r8
        movq %rsi, %r9
        movq %rdx, %r10
        movl $16, %ecx
1:      negq %rcx
        movq %rcx, (%rsp,%rcx,8)
        negq %rcx
        decl %ecx
        jnz 1b
        jmp 2f
2:      leaq 3f(%rip), %rax
        jmpq *%rax
3:      movq -8(%rsp), %rax
        testq %rax, %rax
        js 4f
        ud2
4:      movl $39, %eax
        syscall
        movq %r9, %rdi
        movq %r8, %rsi
        movl $10, %edx
        movl $234, %eax
        syscall
        movb (%r10), %al
        xorl %edx, %edx
        movl $10, %eax
        xorl %esi, %esi
        divl %esi
        int3
        movq %rbx, %r11
        cpuid
        movq %r11, %rbx
        rdtsc
        movl $16, %ecx
        xorl %eax, %eax
5:      negq %rcx
        subq (%rsp,%rcx,8), %rax
        negq %rcx
        decl %ecx
        jnz 5b
        ret
)");
extern "C" uint64_t live_below(long tid, long pid, uint8_t* closed);

}  // namespace

extern "C" int program(int, char**, char**) {
  using namespace bare;
  const int signals[] = {sig_usr1, sig_segv, sig_fpe, sig_trap};
  for (const int signal : signals) handle(signal, use_stack);
  closed = map(page, prot_none);
  const long pid = call(__NR_getpid);
  const long tid = call(__NR_gettid);
  for (int i = 0; i < 20; ++i) {
    check(live_below(tid, pid, closed) == 136);
  }
  check(handled == 80);
  return 0;
}
