// Threads do known work; then one that is not the leader executes the program again, while the others are in the
// kernel. First argument: how many times. Second: "s" one more thread runs in a loop; "f" the execve fails, and all
// continue.
#include "tests/engine/programs/bare.hpp"

namespace {

constexpr uint64_t thread_flags = 0x100 | 0x200 | 0x400 | 0x800 | 0x10000 | 0x40000;

struct Shared {
  volatile int ready = 0, failed = 0;
  int pipes[2][2] = {};
  const char* path = nullptr;
  char left[2] = "0";
  char mode = 0;
};
Shared shared;

asm(R"(
# thread(stack_top, flags, function): clone; the child calls the function and exits.
        .globl thread
thread: movq %rsi, %rax
        movq %rdi, %rsi
        movq %rax, %rdi
        movq %rdx, %r9
        xorl %edx, %edx
        xorl %r10d, %r10d
        movl $56, %eax
        syscall
        testq %rax, %rax
        jz 1f
        ret
1:      callq *%r9
        movl $60, %eax
        xorl %edi, %edi
        syscall
        ud2
)");
extern "C" long thread(uint8_t* stack_top, uint64_t flags, void (*function)());

void start(void (*function)()) {
  using namespace bare;
  uint8_t* stack = map(16384, prot_read | prot_write);
  check(thread(stack + 16384, thread_flags, function) > 0);
}

void work(int rounds) { asm volatile("1: decl %0; jnz 1b" : "+r"(rounds)); }

/// More than the pipe holds: a reader of it knows that this thread is in the kernel and stays there.
void block(int which) {
  static uint8_t bytes[1 << 18];
  bare::call(__NR_write, shared.pipes[which][1], bare::address(bytes), sizeof bytes);
}

void wait_for_block(int which) {
  char one = 0;
  bare::check(bare::call(__NR_read, shared.pipes[which][0], bare::address(&one), 1) == 1);
}

void waits() {
  work(1000);
  block(1);
  work(1000);
  __atomic_fetch_add(const_cast<int*>(&shared.ready), 1, __ATOMIC_SEQ_CST);
}

void spins() {
  while (shared.failed == 0) work(100);
  work(3000);
  __atomic_fetch_add(const_cast<int*>(&shared.ready), 1, __ATOMIC_SEQ_CST);
}

/// A directory may not be executed, which the kernel finds late; the file is not a program at all.
void fails(const char* const* arguments, const char* const* environment) {
  using namespace bare;
  check(call(__NR_execve, address("/"), address(arguments), address(environment)) == -13);
  check(call(__NR_execve, address("/proc/self/mem"), address(arguments), address(environment)) < 0);
  shared.failed = 1;
  for (const auto& pipe : shared.pipes) call(__NR_close, pipe[0]);
}

void executes() {
  using namespace bare;
  work(2000);
  wait_for_block(0);
  wait_for_block(1);
  const char mode[2] = {shared.mode, 0};
  const char* const arguments[] = {shared.path, shared.left, shared.mode != 0 ? mode : nullptr, nullptr};
  const char* const environment[] = {nullptr};
  if (shared.mode == 'f') return fails(arguments, environment);
  call(__NR_execve, address(shared.path), address(arguments), address(environment));
  check(false);
}

}  // namespace

extern "C" int program(int argc, char** argv, char**) {
  using namespace bare;
  check(argc > 1);
  if (argv[1][0] == '0') return 7;
  shared.path = argv[0];
  shared.left[0] = static_cast<char>(argv[1][0] - 1);
  shared.mode = argc > 2 ? argv[2][0] : '\0';
  const Action ignore{reinterpret_cast<void*>(1), sa_restorer, restorer, 0};
  check(call(__NR_rt_sigaction, 13, address(&ignore), 0, 8) == 0);
  for (auto& pipe : shared.pipes) check(call(__NR_pipe2, address(pipe), 02000000) == 0);
  start(waits);
  if (shared.mode != 0) start(spins);
  start(executes);
  block(0);
  work(1000);
  while (shared.ready < 2) call(__NR_sched_yield);
  return 7;
}
