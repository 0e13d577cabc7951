// Parents that continue, and create much code, before their child has run: all share one processor. A parent that ends
// first leaves its resources to others.
#include "tests/engine/programs/bare.hpp"

namespace {

// Sixty functions with different counts: the code that the child inherits differs from the code that is created later.
asm(R"(
        .globl many_functions
many_functions:
        .set i, 0
        .rept 60
        testl %edi, %edi
        jz 1f
        .rept i % 7
        incl stored(%rip)
        .endr
1:      call 2f
        .set i, i + 1
        .endr
        ret
2:      ret
        .bss
stored: .long 0
        .text
)");
extern "C" void many_functions(int stores);

/// Code that parent and child run: the child inherits it from its parent.
[[gnu::noinline]] uint32_t work(uint32_t n) {
  uint32_t odd = 0;
  asm volatile("" : "+r"(n));  // hides the value, so that the compiler does not hoist the work
  for (uint32_t k = 0; k < n; ++k) odd += k % 3 == 0 ? n / (k + 1) : k;
  return odd;
}

int wait_for(long pid) {
  int status = -1;
  bare::check(bare::call(__NR_wait4, pid, bare::address(&status), 0, 0) == pid);
  return status;
}

void pin_to_one_processor() {
  uint64_t set[16] = {};
  const long bytes = bare::call(__NR_sched_getaffinity, 0, sizeof set, bare::address(set));
  bare::check(bytes > 0);
  bool first = true;
  for (uint64_t& word : set) {
    word = first ? word & -word : 0;
    first = first && word == 0;
  }
  bare::check(bare::call(__NR_sched_setaffinity, 0, bytes, bare::address(set)) == 0);
}

}  // namespace

extern "C" int program(int, char**, char**) {
  using namespace bare;
  pin_to_one_processor();
  // Adopts orphans and waits for them at the end, which would be counted partly otherwise. (PR_SET_CHILD_SUBREAPER)
  check(call(__NR_prctl, 36, 1) == 0);
  // If permitted: a child has not run at all before its parent waits. (SCHED_FIFO | SCHED_RESET_ON_FORK)
  const int priority = 1;
  call(__NR_sched_setscheduler, 0, 1 | 0x40000000, address(&priority));
  constexpr int rounds = 20;
  for (int i = 0; i < rounds; ++i) {
    const uint32_t odd = work(100);
    const long pid = call(__NR_fork);
    if (pid == 0) {
      check(work(100) == odd);
      // Its own child is an orphan before it has run, and its area is used by another process.
      if (call(__NR_fork) == 0) {
        check(work(100) == odd);
        many_functions(1);
        leave(1);
      }
      leave(0);
    }
    many_functions(i & 1);
    many_functions(~i & 1);
    check(wait_for(pid) == 0);
  }
  int status = 0;
  for (int i = 0; i < rounds; ++i) check(call(__NR_wait4, -1, address(&status), 0, 0) > 0 && status == 1 << 8);
  return 0;
}
