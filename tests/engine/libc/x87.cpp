// The x87 instruction pointer is that of the program: in what fnstenv, fnsave, fxsave and xsave store, and in signal
// frames. A processor may lose it, or have that of another process, when it changes threads, and AMD's store it with
// fxsave only while an exception is pending: each is tried until it is right.
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

namespace {

extern "C" const char in_fnstenv[], in_fnsave[], in_fxsave[], in_xsave[], in_signal[];

constexpr int tries = 1000;
volatile uint64_t in_frame;

void note(int, siginfo_t*, void* context) {
  auto* const state = static_cast<ucontext_t*>(context)->uc_mcontext.fpregs;
  in_frame = state->rip;
  state->cwd |= 0x3f;
  state->swd &= 0xff00;
}

bool has_xsave() {
  uint32_t a = 1, b = 0, c = 0, d = 0;
  asm volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
  return (c >> 27 & 1) != 0;
}

__attribute__((noinline)) uint64_t stored(int form) {
  alignas(64) static unsigned char area[16384];
  uint32_t low = 0;
  uint64_t whole = 0;
  memset(area, 0, sizeof area);
  switch (form) {
    case 0:
      asm volatile("finit\n nop\n in_fnstenv: fldz\n fnstenv %0\n fninit" : "=m"(area));
      memcpy(&low, area + 12, sizeof low);
      return low;
    case 1:
      asm volatile("finit\n in_fnsave: fldpi\n nop\n fnsave %0" : "=m"(area));
      memcpy(&low, area + 12, sizeof low);
      return low;
    case 2: asm volatile("finit\n in_fxsave: fld1\n fxsave64 %0\n fninit" : "=m"(area)); break;
    default: asm volatile("finit\n in_xsave: fldl2e\n xsave64 %0\n fninit" : "=m"(area) : "a"(1), "d"(0)); break;
  }
  memcpy(&whole, area + 8, sizeof whole);
  return whole;
}

}  // namespace

int main() {
  const char* const right[] = {in_fnstenv, in_fnsave, in_fxsave, in_xsave};
  for (int form = 0; form < (has_xsave() ? 4 : 3); ++form) {
    const bool is_short = form < 2;
    const auto address = reinterpret_cast<uint64_t>(right[form]);
    const uint64_t expected = is_short ? static_cast<uint32_t>(address) : address;
    bool found = false;
    bool is_stored = false;
    for (int i = 0; i < tries && !found; ++i) {
      const uint64_t pointer = stored(form);
      is_stored = is_stored || pointer != 0;
      found = pointer == expected;
    }
    if ((is_short || is_stored) && !found) return 11 + form;
  }
  struct sigaction action = {};
  action.sa_sigaction = note;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGFPE, &action, nullptr);
  const uint16_t unmasked = 0x37b;  // division by 0
  asm volatile("fninit\n fldcw %0\n fldz\n fld1\n in_signal: fdiv %%st(1), %%st(0)\n fwait\n fninit" ::"m"(unmasked));
  return in_frame == reinterpret_cast<uint64_t>(in_signal) ? 0 : 21;
}
