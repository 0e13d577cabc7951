// A program that is interrupted in the middle of straight-line code, for the tests of `tally profile`: each of the
// marked lines stores once. Arguments: how it is interrupted.
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>

#define NOINLINE __attribute__((noinline))

static volatile long a, b, c, d;
static volatile int somewhere;
static volatile int* volatile nowhere;
static sigjmp_buf guard;
static volatile sig_atomic_t alarms;

static void leave(int signal) {
  (void)signal;
  siglongjmp(guard, 1);
}
static void alarmed(int signal) {
  (void)signal;
  alarms = alarms + 1;
}

NOINLINE static void straight(volatile int* p) {
  a = 1;
  b = 2;
  *p = 3;
  c = 4;
  d = 5;
}

NOINLINE static void branching(volatile int* p, long n) {
  a = 1;
  if (n % 3 == 0) b = 2;
  *p = 3;
  if (n % 3 != 1) c = 4;
  d = 5;
}

// Its first instruction faults.
NOINLINE static void at_once(volatile int* p) {
  *p = 3;
  d = 5;
}

static void handle(int signal, void (*handler)(int)) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  sigaction(signal, &action, NULL);
}

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "faults") == 0) {
    handle(SIGSEGV, leave);
    for (volatile int i = 0; i < 300; i++) {
      if (!sigsetjmp(guard, 1)) straight(nowhere);
      if (!sigsetjmp(guard, 1)) branching(nowhere, i);
      if (!sigsetjmp(guard, 1)) at_once(nowhere);
    }
    for (int i = 0; i < 30; i++) {
      straight(&somewhere);
      branching(&somewhere, i);
      at_once(&somewhere);
    }
  }
  if (argc > 1 && strcmp(argv[1], "alarms") == 0) {
    handle(SIGALRM, alarmed);
    const struct itimerval often = {{0, 100}, {0, 100}};
    setitimer(ITIMER_REAL, &often, NULL);
    for (long i = 0; i < 3000 || alarms < 300; i += 3000)
      for (long k = 0; k < 3000; k++) {
        straight(&somewhere);
        branching(&somewhere, k);
      }
  }
  return 0;
}
