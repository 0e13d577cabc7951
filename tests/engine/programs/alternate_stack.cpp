// A stack that overflows: the handler runs on the alternate stack and never returns to it, 50 times.
#include "tests/engine/programs/bare.hpp"

namespace {

constexpr uint64_t stack_bytes = 4 * bare::page;

struct AlternateStack {
  void* base;
  int flags;
  size_t bytes;
};

uint8_t* small_stack;
uint8_t* alternate;
volatile int overflows = 0;

void overflowed(int, bare::Info* info, ucontext_t* context) {
  using namespace bare;
  const auto here = static_cast<uint8_t*>(__builtin_frame_address(0));
  check(here > alternate && here < alternate + stack_bytes);
  const auto fault = static_cast<uint8_t*>(info->fault);
  check(fault < small_stack && fault >= small_stack - page);
  check(context->uc_stack.ss_sp == alternate);
  AlternateStack now{};
  check(call(__NR_sigaltstack, 0, address(&now)) == 0 && now.flags == 1);
  overflows = overflows + 1;
  // Back to where the recursion began, by the frame itself: begin() keeps its stack pointer and address in r15 and r14.
  reg(context, REG_RSP) = reg(context, REG_R15);
  reg(context, REG_RIP) = reg(context, REG_R14);
}

asm(R"(
begin:  pushq %rbx
        pushq %rbp
        pushq %r12
        pushq %r14
        pushq %r15
        movq %rsp, %r15
        leaq 1f(%rip), %r14
        movq %rdi, %rsp
        xorl %eax, %eax
        call descend
1:      popq %r15
        popq %r14
        popq %r12
        popq %rbp
        popq %rbx
        ret
descend:
        incl %eax
        subq $120, %rsp
        call descend
        addq $120, %rsp
        ret
)");
extern "C" int begin(uint8_t* stack_top);

}  // namespace

extern "C" int program(int, char**, char**) {
  using namespace bare;
  uint8_t* area = map(stack_bytes + page, prot_read | prot_write);
  protect(area, page, prot_none);
  small_stack = area + page;
  alternate = map(stack_bytes, prot_read | prot_write);
  const AlternateStack wanted{alternate, 0, stack_bytes};
  check(call(__NR_sigaltstack, address(&wanted), 0) == 0);
  handle(sig_segv, overflowed, sa_onstack);
  for (int i = 0; i < 50; ++i) check(begin(small_stack + stack_bytes) == stack_bytes / 128);
  check(overflows == 50);
  AlternateStack now{};
  check(call(__NR_sigaltstack, 0, address(&now)) == 0);
  check(now.base == alternate && now.flags == 0 && now.bytes == stack_bytes);
  return 0;
}
