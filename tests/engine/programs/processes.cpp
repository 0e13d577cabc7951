// fork and wait, vfork and exec, and exec of itself. Argument: how many times to execute itself again.
#include "tests/engine/programs/bare.hpp"

namespace {

int wait_for(long pid) {
  int status = -1;
  bare::check(bare::call(__NR_wait4, pid, bare::address(&status), 0, 0) == pid);
  return status;
}

void execute(const char* path, char digit) {
  char times[2] = {digit, 0};
  const char* const arguments[] = {path, times, nullptr};
  const char* const environment[] = {nullptr};
  bare::call(__NR_execve, bare::address(path), bare::address(arguments), bare::address(environment));
}

asm(R"(
# vfork has to return twice into a frame that the child must not have reused.
        .globl vfork_and
vfork_and:
        popq %r8
        movl $58, %eax
        syscall
        pushq %r8
        ret
)");
extern "C" long vfork_and() __attribute__((returns_twice));

}  // namespace

extern "C" int program(int argc, char** argv, char**) {
  using namespace bare;
  if (argc > 1) {
    const char left = argv[1][0];
    if (left > '0') execute(argv[0], static_cast<char>(left - 1));
    return left == '0' ? 0 : 2;
  }
  // Memory of a forked child is its own, that of a vforked one is shared.
  volatile int cell = 1;
  for (int i = 0; i < 5; ++i) {
    const long pid = call(__NR_fork);
    if (pid == 0) {
      cell = cell + 1;
      leave(cell + i);
    }
    check(pid > 0);
    check(wait_for(pid) == (2 + i) << 8 && cell == 1);
  }
  for (int i = 0; i < 5; ++i) {
    const long pid = vfork_and();
    if (pid == 0) {
      cell = cell + 1;
      execute(argv[0], static_cast<char>('0' + i % 3));
      leave(9);
    }
    check(wait_for(pid) == 0 && cell == 2 + i);
  }
  // A failed exec returns the kernel's error.
  const long pid = vfork_and();
  if (pid == 0) {
    execute("/nonexistent/program", '0');
    cell = 99;
    leave(7);
  }
  check(wait_for(pid) == 7 << 8 && cell == 99);
  check(call(__NR_execve, address("/"), 0, 0) == -13);
  // A child killed by a signal.
  const long victim = call(__NR_fork);
  if (victim == 0) asm volatile("ud2");
  check((wait_for(victim) & 0x7f) == sig_ill);
  execute(argv[0], '3');
  return 1;
}
