// Faults that are skipped: the handler moves rip after the instruction. SIGSEGV, SIGFPE, SIGILL, and int3, which is not
// a fault: its handler, like that of the overflow trap, finds rip already after it.
#include "tests/engine/programs/bare.hpp"

namespace {

uint64_t seen[32];

extern "C" const char segv_at[], segv_end[], div_at[], div_end[], ud_at[], ud_end[], trap_at[], trap_end[], rep_at[],
    rep_end[], call_at[], call_end[], priv_at[], priv_end[], over_end[];

struct Instruction {
  int signal;
  const char* at;
  const char* end;
};

void skip(int signal, bare::Info* info, ucontext_t* context) {
  using namespace bare;
  const Instruction places[] = {{sig_segv, segv_at, segv_end}, {sig_fpe, div_at, div_end},
                                {sig_ill, ud_at, ud_end},      {sig_trap, trap_at, trap_end},
                                {sig_segv, rep_at, rep_end},   {sig_segv, call_at, call_end},
                                {sig_segv, priv_at, priv_end}, {sig_segv, over_end, over_end}};
  const auto rip = reinterpret_cast<const char*>(reg(context, REG_RIP));
  bool found = false;
  for (const Instruction& place : places) {
    if (place.signal != signal) continue;
    if (rip != (signal == sig_trap ? place.end : place.at)) continue;
    found = true;
    reg(context, REG_RIP) = address(place.end);
  }
  check(found);
  check((reg(context, REG_EFL) & trap_flag) == 0);
  if (signal == sig_fpe) check(info->fault == div_at && info->code == 1);
  if (signal == sig_ill) check(info->fault == ud_at && info->code == 2);
  if (signal == sig_trap) check(info->code == 0x80);
  ++seen[signal];
}

[[gnu::noipa]] uint64_t segv() {
  uint64_t r = 1;
  asm volatile("leaq 1(%0), %0\n\t .globl segv_at, segv_end\nsegv_at: addq $100, (%1)\nsegv_end: leaq 1(%0,%0), %0"
               : "+r"(r)
               : "r"(8ull)
               : "memory", "cc");
  return r;
}

[[gnu::noipa]] uint64_t divide() {
  uint64_t r = 1;
  asm volatile(
      "leaq 1(%0), %0\n\t xorl %%edx, %%edx\n\t .globl div_at, div_end\n"
      "div_at: divq %1\ndiv_end: leaq 1(%0,%0), %0"
      : "+r"(r)
      : "r"(0ull), "a"(5ull)
      : "rdx", "cc");
  return r;
}

[[gnu::noipa]] uint64_t undefined() {
  uint64_t r = 1;
  asm volatile("leaq 1(%0), %0\n\t .globl ud_at, ud_end\nud_at: ud2\nud_end: leaq 1(%0,%0), %0" : "+r"(r));
  return r;
}

[[gnu::noipa]] uint64_t trap() {
  uint64_t r = 1;
  asm volatile("leaq 1(%0), %0\n\t .globl trap_at, trap_end\ntrap_at: int3\ntrap_end: leaq 1(%0,%0), %0" : "+r"(r));
  return r;
}

/// Five bytes are stored, then the page ends.
[[gnu::noipa]] uint64_t repeated(uint8_t* end_of_page) {
  uint64_t count = 9;
  uint8_t* to = end_of_page - 5;
  asm volatile(".globl rep_at, rep_end\nrep_at: rep stosb\nrep_end: nop" : "+c"(count), "+D"(to) : "a"(1) : "memory");
  return count;
}

/// A call through a bad pointer faults at the call, with nothing pushed.
[[gnu::noipa]] uint64_t call_nowhere() {
  uint64_t rsp = 0;
  uint64_t after = 0;
  asm volatile("movq %%rsp, %0\n\t .globl call_at, call_end\ncall_at: call *(%2)\ncall_end: movq %%rsp, %1"
               : "=&r"(rsp), "=&r"(after)
               : "r"(8ull)
               : "memory");
  return rsp - after;
}

[[gnu::noipa]] uint64_t privileged() {
  uint64_t r = 1;
  asm volatile("leaq 1(%0), %0\n\t .globl priv_at, priv_end\npriv_at: hlt\npriv_end: leaq 1(%0,%0), %0" : "+r"(r));
  return r;
}

[[gnu::noipa]] uint64_t overflow_trap() {
  uint64_t r = 1;
  asm volatile("leaq 1(%0), %0\n\t   .globl over_end\n\t int $4\nover_end: leaq 1(%0,%0), %0" : "+r"(r));
  return r;
}

}  // namespace

extern "C" int program(int, char**, char**) {
  using namespace bare;
  const int signals[] = {sig_segv, sig_fpe, sig_ill, sig_trap};
  for (const int signal : signals) handle(signal, skip);
  uint8_t* pages = map(2 * page, prot_read | prot_write);
  protect(pages + page, page, prot_none);
  for (int i = 0; i < 250; ++i) {
    check(segv() == 5);
    check(divide() == 5);
    check(undefined() == 5);
    check(trap() == 5);
    check(privileged() == 5);
    check(overflow_trap() == 5);
    check(call_nowhere() == 0);
    check(repeated(pages + page) == 4);
  }
  check(seen[sig_segv] == 1250 && seen[sig_fpe] == 250 && seen[sig_ill] == 250 && seen[sig_trap] == 250);
  return 0;
}
