#include "tally/linux/process/large_stack.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>

#include <cstddef>

namespace tally::linux {
namespace {

constexpr std::size_t stack_bytes = 8 << 20, guard_bytes = 1 << 16;

// makecontext() passes only integers.
const std::function<int()>* current_work = nullptr;
int current_result = 0;

void run_work() { current_result = (*current_work)(); }

bool is_large_enough() {
  rlimit limit{};
  return getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= stack_bytes;
}

void enlarge_stacks_of_threads() {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return;
  if (pthread_attr_setstacksize(&attributes, stack_bytes) == 0) (void)pthread_setattr_default_np(&attributes);
  pthread_attr_destroy(&attributes);
}

}  // namespace

int on_large_stack(const std::function<int()>& work) {
  if (is_large_enough()) return work();
  enlarge_stacks_of_threads();
  // Pages take memory only once used. The guard pages end a program that needs more.
  void* const stack = mmap(nullptr, guard_bytes + stack_bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) return work();
  (void)mprotect(stack, guard_bytes, PROT_NONE);
  ucontext_t here{}, there{};
  if (getcontext(&there) != 0) return work();
  there.uc_stack.ss_sp = static_cast<char*>(stack) + guard_bytes;
  there.uc_stack.ss_size = stack_bytes;
  there.uc_link = &here;
  current_work = &work;
  makecontext(&there, run_work, 0);
  swapcontext(&here, &there);
  munmap(stack, guard_bytes + stack_bytes);
  return current_result;
}

}  // namespace tally::linux
