// System calls that a signal interrupts while they wait: restarted with SA_RESTART, EINTR without it, a sleep that
// returns the remaining time. The timer fires long after the call has begun to wait; what happens to the call then is
// up to the kernel.
#include "tests/engine/programs/bare.hpp"

namespace {

struct Timer {
  long every_s, every_us, first_s, first_us;
};

struct Time {
  long s, ns;
};

volatile int handled = 0;
int ends[2];

void note(int, bare::Info*, ucontext_t*) { handled = handled + 1; }

void feed(int, bare::Info*, ucontext_t*) {
  handled = handled + 1;
  bare::call(__NR_write, ends[1], bare::address("x"), 1);
}

void arm() {
  static const Timer once{0, 0, 0, 20000};
  bare::check(bare::call(__NR_setitimer, 0, bare::address(&once)) == 0);
}

}  // namespace

extern "C" int program(int, char**, char**) {
  using namespace bare;
  constexpr long eintr = -4;
  char byte = 0;
  check(call(__NR_pipe2, address(ends), 0) == 0);

  handle(sig_alrm, feed, sa_restart);
  arm();
  check(call(__NR_read, ends[0], address(&byte), 1) == 1 && byte == 'x');
  check(handled == 1);

  handle(sig_alrm, note);
  arm();
  check(call(__NR_read, ends[0], address(&byte), 1) == eintr);
  check(handled == 2);

  // poll and sigsuspend never restart, whatever the handler's flags are.
  handle(sig_alrm, note, sa_restart);
  struct {
    int fd;
    short events, result;
  } one{ends[0], 1, 0};
  arm();
  check(call(__NR_poll, address(&one), 1, -1) == eintr);
  check(handled == 3);

  const Time wanted{1000, 0};
  Time left{0, 0};
  arm();
  check(call(__NR_nanosleep, address(&wanted), address(&left)) == eintr);
  check(handled == 4 && left.s == 999);

  arm();
  check(call(__NR_pause) == eintr);
  check(handled == 5);

  // A futex wait restarts by itself if the handler's flags allow it, and the handler's own wake ends it.
  int word = 0;
  handle(sig_alrm, note);
  arm();
  check(call(__NR_futex, address(&word), 0, 0, 0) == eintr);
  check(handled == 6);
  return 0;
}
