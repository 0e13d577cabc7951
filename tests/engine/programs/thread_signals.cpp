// Two threads and directed signals in step with each other: each signal is handled by the thread it was sent to, on
// that thread's stack and with its FS base, and answered through a pipe.
#include "tests/engine/programs/bare.hpp"

namespace {

constexpr int rounds = 200;
constexpr size_t stack_bytes = 65536;

int ends[2];
uint64_t local[2];
volatile int tid_of_handler = 0;
volatile int clear_at_end = 1;
uint8_t* stack;

void answer(int, bare::Info* info, ucontext_t*) {
  using namespace bare;
  uint64_t own = 0;
  asm volatile("movq %%fs:0, %0" : "=r"(own));
  const auto here = static_cast<uint8_t*>(__builtin_frame_address(0));
  check(own == 0x1234 && here > stack && here < stack + stack_bytes);
  check(info->sender.pid == call(__NR_getpid));
  tid_of_handler = static_cast<int>(call(__NR_gettid));
  check(call(__NR_write, ends[1], address("x"), 1) == 1);
}

extern "C" [[noreturn]] void second_thread() {
  using namespace bare;
  const uint64_t none = 0;
  for (int i = 0; i < rounds; ++i) check(call(__NR_rt_sigsuspend, address(&none), 8) == -4);
  for (;;) call(__NR_exit, 0);
}

asm(R"(
# start_second(stack_top, flags, tid, fs)
        .globl start_second
start_second:
        movq %rdi, %rax
        movq %rsi, %rdi
        movq %rax, %rsi
        movq %rdx, %r10
        movq %rcx, %r8
        movl $56, %eax
        syscall
        testq %rax, %rax
        jz second_thread
        ret
)");
extern "C" long start_second(uint8_t* stack_top, uint64_t flags, volatile int* tid, uint64_t* fs);

}  // namespace

extern "C" int program(int, char**, char**) {
  using namespace bare;
  check(call(__NR_pipe2, address(ends), 0) == 0);
  handle(sig_usr1, answer);
  // Blocked in both threads; the second unblocks it only while it waits.
  mask(0, bit(sig_usr1));
  stack = map(stack_bytes, prot_read | prot_write);
  local[0] = 0x1234;
  // VM FS FILES SIGHAND THREAD SYSVSEM SETTLS CHILD_CLEARTID
  constexpr uint64_t flags = 0x100 | 0x200 | 0x400 | 0x800 | 0x10000 | 0x40000 | 0x80000 | 0x200000;
  const long tid = start_second(stack + stack_bytes - 8, flags, &clear_at_end, local);
  check(tid > 0);
  const long pid = call(__NR_getpid);
  for (int i = 0; i < rounds; ++i) {
    char byte = 0;
    check(call(__NR_tgkill, pid, tid, sig_usr1) == 0);
    check(call(__NR_read, ends[0], address(&byte), 1) == 1);
    check(tid_of_handler == tid);
  }
  const long result = call(__NR_futex, address(&clear_at_end), 0, 1, 0);
  check(result * (result + 11) == 0);
  check(clear_at_end == 0);
  return 0;
}
