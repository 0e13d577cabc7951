// Faults that are not in an instruction's data: jumps, calls and returns to addresses without code, instructions that
// cross the end of their page, an invalid stack pointer, alignment. The handler sees the same as natively, and leaves.
#include "tests/engine/programs/bare.hpp"

namespace {

struct Fault {
  int signal, code;
  uint64_t address, rip, rsp, trap, error;
};

Fault seen;
volatile int faults = 0;

/// Back to attempt()'s caller: it keeps the stack pointer in r15 and the address in r14.
void leave_attempt(int signal, bare::Info* info, ucontext_t* context) {
  using namespace bare;
  seen = {signal,
          info->code,
          reinterpret_cast<uint64_t>(info->fault),
          static_cast<uint64_t>(reg(context, REG_RIP)),
          static_cast<uint64_t>(reg(context, REG_RSP)),
          static_cast<uint64_t>(reg(context, REG_TRAPNO)),
          static_cast<uint64_t>(reg(context, REG_ERR))};
  faults = faults + 1;
  reg(context, REG_RSP) = reg(context, REG_R15);
  reg(context, REG_RIP) = reg(context, REG_R14);
}

asm(R"(
        .macro attempt name
        .globl \name
\name:  pushq %r14
        pushq %r15
        movq %rsp, %r15
        leaq attempt_end(%rip), %r14
        .endm
attempt_end:
        popq %r15
        popq %r14
        ret

        .globl at_bad_stack, at_bad_ret, at_push, at_noncanonical, at_movaps, at_movnt
        attempt jump_to
        jmpq *%rdi
        attempt call_to
        callq *%rdi
        attempt return_to
        pushq %rdi
        ret
        attempt bad_stack
        movq %rdi, %rsp
at_bad_stack:
        call attempt_end
        attempt bad_ret
        movq %rdi, %rsp
at_bad_ret:
        ret
        attempt bad_push
        movq %rdi, %rsp
at_push: pushq $5
        attempt noncanonical
        movabsq $0x8000000000000000, %rax
at_noncanonical:
        movq (%rax), %rcx
        attempt unaligned
at_movaps:
        movaps 1(%rsp), %xmm0
        attempt unaligned_stream
at_movnt:
        movntdq %xmm0, 3(%rsp)
)");
extern "C" void jump_to(const void*), call_to(const void*), return_to(const void*), bad_stack(const void*),
    bad_ret(const void*), bad_push(const void*), noncanonical(), unaligned(), unaligned_stream();
extern "C" const char at_bad_stack[], at_bad_ret[], at_push[], at_noncanonical[], at_movaps[], at_movnt[];

constexpr int maperr = 1;
constexpr int accerr = 2;
constexpr int kernel = 0x80;

/// The fault of an instruction fetch: rip and the address are the target itself.
void expect_fetch(const void* place, int code, int line = __builtin_LINE()) {
  const auto at = reinterpret_cast<uint64_t>(place);
  bare::check(seen.signal == bare::sig_segv && seen.code == code, line);
  bare::check(seen.rip == at && seen.address == at && seen.trap == 14, line);
}

void expect_data(const char* rip, uint64_t address, int code, int line = __builtin_LINE()) {
  bare::check(seen.signal == bare::sig_segv && seen.code == code, line);
  bare::check(seen.rip == reinterpret_cast<uint64_t>(rip) && seen.address == address, line);
}

}  // namespace

extern "C" int program(int, char**, char**) {
  using namespace bare;
  struct {
    void* base;
    int flags;
    size_t bytes;
  } const alternate{map(4 * page, prot_read | prot_write), 0, 4 * page};
  check(call(__NR_sigaltstack, address(&alternate), 0) == 0);
  handle(sig_segv, leave_attempt, sa_onstack);
  handle(sig_bus, leave_attempt, sa_onstack);

  uint8_t* pages = map(3 * page, prot_read | prot_write);
  check(call(__NR_munmap, address(pages + 2 * page), page) == 0);
  const auto nowhere = reinterpret_cast<const void*>(8);
  // Readable, writable, not executable; and an instruction whose end is not mapped.
  const uint8_t* no_code = pages;
  uint8_t* cut = pages + 2 * page - 2;
  cut[0] = 0x48;
  cut[1] = 0xb8;
  protect(pages + page, page, prot_read | prot_exec);
  for (int i = 0; i < 10; ++i) {
    jump_to(nowhere);
    expect_fetch(nowhere, maperr);
    call_to(nowhere);
    expect_fetch(nowhere, maperr);
    return_to(nowhere);
    expect_fetch(nowhere, maperr);
    jump_to(no_code);
    expect_fetch(no_code, accerr);
    call_to(no_code);
    expect_fetch(no_code, accerr);
    jump_to(cut);
    check(seen.signal == sig_segv && seen.rip == reinterpret_cast<uint64_t>(cut));
    check(seen.address == reinterpret_cast<uint64_t>(pages + 2 * page) && seen.code == maperr);
    bad_stack(nowhere);
    expect_data(at_bad_stack, 0, maperr);
    check(seen.rsp == 8);
    bad_ret(nowhere);
    expect_data(at_bad_ret, 8, maperr);
    check(seen.rsp == 8);
    bad_push(pages + page + 8);
    expect_data(at_push, reinterpret_cast<uint64_t>(pages + page), accerr);
    noncanonical();
    expect_data(at_noncanonical, 0, kernel);
    unaligned();
    expect_data(at_movaps, 0, kernel);
    unaligned_stream();
    expect_data(at_movnt, 0, kernel);
  }
  check(faults == 120);
  return 0;
}
