// Four threads by clone, each with a loop of its own length and its own FS base, and a join that always executes the
// same instructions: one futex wait, whether or not the thread has ended already.
#include "tests/engine/programs/bare.hpp"

namespace {

constexpr int threads = 4;
constexpr size_t stack_bytes = 16384;

struct Job {
  uint64_t rounds;
  uint64_t sum;
  uint64_t local;
  volatile int tid;
};

Job jobs[threads];

asm(R"(
# start(stack_top, flags, tid, job): clone; the child runs job_loop with the job as its FS base and exits.
        .globl start
start:  movq %rcx, %r9
        movq %rsi, %rax
        movq %rdi, %rsi
        movq %rax, %rdi
        movq %rdx, %r10
        movq %r9, %r8
        movl $56, %eax
        syscall
        testq %rax, %rax
        jz 1f
        ret
1:      movq %fs:0, %rcx
        xorl %eax, %eax
2:      addq %rcx, %rax
        lock incq shared_rounds(%rip)
        call 3f
        decq %rcx
        jnz 2b
        movq %rax, %fs:8
        movl $60, %eax
        xorl %edi, %edi
        syscall
        ud2
3:      incq %fs:16
        ret
)");
extern "C" long start(uint8_t* stack_top, uint64_t flags, volatile int* tid, Job* job);
extern "C" volatile uint64_t shared_rounds;
volatile uint64_t shared_rounds = 0;

void join(Job& job) {
  // The word is 1 until the kernel clears it at the thread's end and wakes.
  const long result = bare::call(__NR_futex, bare::address(&job.tid), 0, 1, 0);
  bare::check(result * (result + 11) == 0);  // one test for both answers, 0 and EAGAIN
  bare::check(job.tid == 0);
}

}  // namespace

extern "C" int program(int, char**, char**) {
  using namespace bare;
  // VM FS FILES SIGHAND THREAD SYSVSEM SETTLS CHILD_CLEARTID
  constexpr uint64_t flags = 0x100 | 0x200 | 0x400 | 0x800 | 0x10000 | 0x40000 | 0x80000 | 0x200000;
  uint8_t* stacks = map(threads * stack_bytes, prot_read | prot_write);
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < threads; ++i) {
      jobs[i] = {static_cast<uint64_t>(100 * (i + 1)), 0, 0, 1};
      check(start(stacks + (i + 1) * stack_bytes, flags, &jobs[i].tid, &jobs[i]) > 0);
    }
    for (int i = 0; i < threads; ++i) join(jobs[i]);
    for (int i = 0; i < threads; ++i) {
      const uint64_t n = jobs[i].rounds;
      check(jobs[i].sum == n * (n + 1) / 2 && jobs[i].local == n);
    }
  }
  check(shared_rounds == 5 * 1000);
  return 0;
}
