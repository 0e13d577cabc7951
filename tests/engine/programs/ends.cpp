// Ways to end. Argument: 3 exits with 3; e exits by `exit`, not `exit_group`; s faults; k, t, a send themselves
// SIGKILL, SIGTERM, SIGABRT; w prints "ready" and waits for a signal from outside; b prints it and counts without end.
#include "tests/engine/programs/bare.hpp"

extern "C" int program(int argc, char** argv, char**) {
  using namespace bare;
  const char way = argc > 1 ? argv[1][0] : '0';
  uint64_t sum = 0;
  for (uint64_t i = 0; i < 1000; ++i) sum += i * i;
  check(sum == 332833500);
  switch (way) {
    case 'e': call(__NR_exit, 4); break;
    case 's': asm volatile("movl %%eax, 16" ::: "memory"); break;
    case 'k': call(__NR_kill, call(__NR_getpid), 9); break;
    case 't': call(__NR_kill, call(__NR_getpid), 15); break;
    case 'a': raise(6); break;
    case 'w':
      call(__NR_write, 1, address("ready\n"), 6);
      for (;;) call(__NR_pause);
    case 'b':
      call(__NR_write, 1, address("ready\n"), 6);
      for (;;) asm volatile("incq %%rax" ::: "rax", "cc");
    default: break;
  }
  return way - '0';
}
