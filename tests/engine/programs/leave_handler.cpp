// Handlers that never return: they restore the stack and the address of an earlier moment, as siglongjmp does.
#include "tests/engine/programs/bare.hpp"

namespace {

struct SavedState {
  uint64_t rbx, rbp, r12, r13, r14, r15, rsp, rip;
};

asm(R"(
remember:
        movq %rbx, (%rdi)
        movq %rbp, 8(%rdi)
        movq %r12, 16(%rdi)
        movq %r13, 24(%rdi)
        movq %r14, 32(%rdi)
        movq %r15, 40(%rdi)
        leaq 8(%rsp), %rax
        movq %rax, 48(%rdi)
        movq (%rsp), %rax
        movq %rax, 56(%rdi)
        xorl %eax, %eax
        ret
go_back:
        movl %esi, %eax
        movq (%rdi), %rbx
        movq 8(%rdi), %rbp
        movq 16(%rdi), %r12
        movq 24(%rdi), %r13
        movq 32(%rdi), %r14
        movq 40(%rdi), %r15
        movq 48(%rdi), %rsp
        jmpq *56(%rdi)
)");
extern "C" int remember(SavedState*) __attribute__((returns_twice));
extern "C" [[noreturn]] void go_back(SavedState*, int value);

SavedState moment;
int tries;

void escape(int signal, bare::Info*, ucontext_t*) {
  bare::mask(1, bare::bit(signal));
  go_back(&moment, signal);
}

}  // namespace

extern "C" int program(int, char**, char**) {
  using namespace bare;
  const int signals[] = {sig_segv, sig_usr1, sig_fpe, sig_trap};
  for (const int signal : signals) handle(signal, escape);
  for (tries = 0; tries < 200; ++tries) {
    const int value = remember(&moment);
    if (value == 0) {
      switch (tries % 4) {
        case 0: asm volatile("incl 0" ::: "memory", "cc"); break;
        case 1: raise(sig_usr1); break;
        case 2: asm volatile("xorl %%edx, %%edx\n\t divl %%edx" ::: "rax", "rdx", "cc"); break;
        default: asm volatile("int3");
      }
      check(false);
    }
    check(value == (tries % 4 == 0 ? sig_segv : tries % 4 == 1 ? sig_usr1 : tries % 4 == 2 ? sig_fpe : sig_trap));
  }
  check(mask(0, 0) == 0);
  return 0;
}
