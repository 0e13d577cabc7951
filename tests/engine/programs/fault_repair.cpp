// A thousand faults in the middle of a block, each repaired: the page is made accessible, or the register is corrected.
#include "tests/engine/programs/bare.hpp"

namespace {

volatile uint64_t faults = 0;
uint8_t* closed;
uint64_t open_word = 7;

extern "C" const char load_at[], store_at[], modify_at[], vector_at[], last_at[];

void repair(int signal, bare::Info* info, ucontext_t* context) {
  using namespace bare;
  check(signal == sig_segv && info->fault == closed);
  const auto rip = reinterpret_cast<const char*>(reg(context, REG_RIP));
  check(rip == load_at || rip == store_at || rip == modify_at || rip == vector_at || rip == last_at);
  // The instructions before the fault have been executed, those after it have not.
  check(reg(context, REG_R12) == (rip == load_at     ? 1
                                  : rip == store_at  ? 2
                                  : rip == modify_at ? 3
                                  : rip == vector_at ? 4
                                                     : 5));
  check((reg(context, REG_EFL) & trap_flag) == 0);
  check((reg(context, REG_EFL) & 1) != 0);
  faults = faults + 1;
  if (faults % 2 != 0) {
    protect(closed, page, prot_read | prot_write);
  } else {
    reg(context, REG_RBX) = address(&open_word);
  }
}

[[gnu::noipa]] uint64_t round(uint8_t* target, uint8_t* scratch, int which) {
  uint64_t sum = 5;
  // Straight-line code; `which` selects the bad pointer. The carry is set from start to end.
  uint8_t* pointers[5];
  for (int i = 0; i < 5; ++i) pointers[i] = i == which ? target : scratch;
  asm volatile(R"(
        xorl %%r12d, %%r12d
        stc
        movq (%[p]), %%rbx
        leaq 1(%%r12), %%r12
        .globl load_at, store_at, modify_at, vector_at, last_at
load_at: movq (%%rbx), %%rax
        leaq (%[sum],%%rax), %[sum]
        movq 8(%[p]), %%rbx
        leaq 1(%%r12), %%r12
store_at: movl %%r12d, (%%rbx)
        movq 16(%[p]), %%rbx
        leaq 1(%%r12), %%r12
modify_at: notq (%%rbx)
        notq (%%rbx)
        movq 24(%[p]), %%rbx
        leaq 1(%%r12), %%r12
vector_at: movq (%%rbx), %%xmm1
        movq 32(%[p]), %%rbx
        leaq 1(%%r12), %%r12
last_at: adcq $3, (%%rbx)
        subq $3, (%%rbx)
)"
               : [sum] "+r"(sum)
               : [p] "r"(pointers)
               : "rax", "rbx", "r12", "xmm1", "cc", "memory");
  return sum;
}

}  // namespace

extern "C" int program(int, char**, char**) {
  using namespace bare;
  handle(sig_segv, repair);
  closed = map(page, prot_none);
  uint64_t scratch = 0;
  for (int i = 0; i < 1000; ++i) {
    protect(closed, page, prot_none);
    scratch = 0;
    open_word = 0;
    check(round(closed, reinterpret_cast<uint8_t*>(&scratch), i % 5) <= 5 + 1005);
  }
  check(faults == 1000);
  return 0;
}
