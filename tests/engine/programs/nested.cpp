// Signals within handlers: masks, SA_NODEFER, SA_RESETHAND, ignored signals, and the mask that a handler leaves.
#include "tests/engine/programs/bare.hpp"

namespace {

volatile int depth = 0;
volatile int deepest = 0;
volatile int runs = 0;
volatile uint64_t mask_inside = 0;
volatile bool inner_ran_inside = false;

void again(int signal, bare::Info*, ucontext_t*) {
  depth = depth + 1;
  if (depth > deepest) deepest = depth;
  runs = runs + 1;
  if (runs < 5) bare::raise(signal);
  depth = depth - 1;
}

void inner(int, bare::Info*, ucontext_t*) { runs = runs + 1; }

void outer(int, bare::Info*, ucontext_t* context) {
  mask_inside = bare::mask(0, 0);
  const int before = runs;
  bare::raise(bare::sig_usr2);
  inner_ran_inside = runs != before;
  bare::check(bare::reg(context, REG_RIP) != 0);
}

void change_mask(int, bare::Info*, ucontext_t* context) {
  *reinterpret_cast<uint64_t*>(&context->uc_sigmask) |= bare::bit(bare::sig_usr2);
}

void reset() {
  depth = 0;
  deepest = 0;
  runs = 0;
}

}  // namespace

extern "C" int program(int, char**, char**) {
  using namespace bare;
  handle(sig_usr1, again, sa_nodefer);
  raise(sig_usr1);
  check(runs == 5 && deepest == 5);

  reset();
  handle(sig_usr1, again);
  raise(sig_usr1);
  check(runs == 5 && deepest == 1);

  reset();
  handle(sig_usr2, inner);
  handle(sig_usr1, outer);
  raise(sig_usr1);
  check(mask_inside == bit(sig_usr1) && inner_ran_inside && runs == 1);
  check(mask(0, 0) == 0);

  reset();
  handle(sig_usr1, outer, 0, bit(sig_usr2));
  raise(sig_usr1);
  check(mask_inside == (bit(sig_usr1) | bit(sig_usr2)) && !inner_ran_inside && runs == 1);

  reset();
  handle(sig_usr2, inner, sa_resethand);
  check(action(sig_usr2).handler == reinterpret_cast<void*>(inner));
  check((action(sig_usr2).flags & sa_resethand) != 0);
  raise(sig_usr2);
  check(runs == 1 && action(sig_usr2).handler == nullptr);

  const Action ignore{reinterpret_cast<void*>(1), 0, nullptr, 0};
  check(call(__NR_rt_sigaction, sig_usr2, address(&ignore), 0, 8) == 0);
  raise(sig_usr2);
  check(runs == 1);

  handle(sig_usr1, change_mask);
  raise(sig_usr1);
  check(mask(0, 0) == bit(sig_usr2));
  handle(sig_usr2, inner);
  raise(sig_usr2);
  uint64_t pending = 0;
  check(call(__NR_rt_sigpending, address(&pending), 8) == 0);
  check(runs == 1 && pending == bit(sig_usr2));
  mask(2, 0);
  check(runs == 2);
  return 0;
}
