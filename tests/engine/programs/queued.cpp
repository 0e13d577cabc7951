// Real-time signals queued ten deep while blocked: all ten arrive, in order, each with its value.
#include "tests/engine/programs/bare.hpp"

namespace {

long values[32];
volatile int handled = 0;

void note(int signal, bare::Info* info, ucontext_t* context) {
  bare::check(signal == bare::sig_rt || signal == bare::sig_rt + 1);
  bare::check(info->number == signal && info->code == -1);
  bare::check((bare::reg(context, REG_EFL) & bare::trap_flag) == 0);
  values[handled] = info->sender.value;
  handled = handled + 1;
}

void queue(int signal, long value) {
  bare::Info info{};
  info.number = signal;
  info.code = -1;
  info.sender = {static_cast<int>(bare::call(__NR_getpid)), 0, value};
  char room[128] = {};
  __builtin_memcpy(room, &info, sizeof info);
  bare::check(bare::call(__NR_rt_sigqueueinfo, bare::call(__NR_getpid), signal, bare::address(room)) == 0);
}

}  // namespace

extern "C" int program(int, char**, char**) {
  using namespace bare;
  // Mutually blocked, so that the order is the queue's: lower number first, then first in first out.
  handle(sig_rt, note, 0, bit(sig_rt + 1));
  handle(sig_rt + 1, note, 0, bit(sig_rt));
  for (int round = 0; round < 20; ++round) {
    handled = 0;
    mask(0, bit(sig_rt) | bit(sig_rt + 1));
    for (int i = 0; i < 5; ++i) queue(sig_rt + 1, 100 + i);
    for (int i = 0; i < 5; ++i) queue(sig_rt, i);
    check(handled == 0);
    mask(1, bit(sig_rt) | bit(sig_rt + 1));
    check(handled == 10);
    for (int i = 0; i < 5; ++i) check(values[i] == i && values[5 + i] == 100 + i);
  }
  // Not blocked: each is handled before the call that sends it returns.
  handled = 0;
  for (int i = 0; i < 10; ++i) {
    queue(sig_rt, i);
    check(handled == i + 1);
  }
  // Left to the kernel's wait: sigsuspend returns after one handler.
  handled = 0;
  mask(0, bit(sig_rt));
  queue(sig_rt, 1);
  const uint64_t none = 0;
  check(call(__NR_rt_sigsuspend, address(&none), 8) == -4);
  check(handled == 1);
  // Taken without a handler.
  queue(sig_rt, 77);
  char room[128];
  const uint64_t set = bit(sig_rt);
  check(call(__NR_rt_sigtimedwait, address(&set), address(room), 0, 8) == sig_rt);
  check(reinterpret_cast<Info*>(room)->sender.value == 77 && handled == 1);
  return 0;
}
