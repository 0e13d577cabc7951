// An orphan waits until another process has adopted it, prints the number of that process, and prints it again as
// another program. The first process prints how often its own parent changed: never.
#include "tests/engine/programs/bare.hpp"

namespace {

long parent() { return bare::call(__NR_getppid); }

[[noreturn]] void become_orphan(char** argv, char** envp) {
  const long before = bare::call(__NR_getpid);
  if (bare::call(__NR_fork) != 0) bare::leave(0);
  while (parent() == before) bare::call(__NR_sched_yield);
  bare::print(static_cast<uint64_t>(parent()));
  char* const arguments[] = {argv[0], argv[0], nullptr};
  bare::call(__NR_execve, bare::address(argv[0]), bare::address(arguments), bare::address(envp));
  bare::leave(1);
}

}  // namespace

extern "C" int program(int argc, char** argv, char** envp) {
  if (argc == 2) {
    bare::print(static_cast<uint64_t>(parent()));
    return 0;
  }
  const long before = parent();
  int ends[2];
  bare::check(bare::call(__NR_pipe, bare::address(ends)) == 0);
  const long child = bare::call(__NR_fork);
  if (child == 0) {
    // The last process closes the pipe.
    bare::call(__NR_close, ends[0]);
    become_orphan(argv, envp);
  }
  bare::call(__NR_close, ends[1]);
  bare::check(bare::call(__NR_wait4, child, 0, 0, 0) == child);
  char byte = 0;
  bare::check(bare::call(__NR_read, ends[0], bare::address(&byte), 1) == 0);
  bare::print(static_cast<uint64_t>(parent() != before));
  return 0;
}
