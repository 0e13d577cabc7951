// A process that dies while one thread runs, and one waits in a system call: it prints what its core file must show.
// With the argument "thread" another thread than the first dies.
#include <pthread.h>
#include <sched.h>

#include <cstdio>
#include <cstring>

extern "C" {
extern const char run_begin[], run_end[], wait_begin[], wait_end[], die_here[];
int running, waiting;
}

namespace {

__attribute__((noinline)) void* run(void*) {
  asm volatile(
      "mov $0x1111111111111111, %%rbx\n"
      "movq %%rbx, %%xmm9\n"
      "movl $1, running(%%rip)\n"
      ".globl run_begin, run_end\n"
      "run_begin:\n"
      "inc %%rax\n"
      "add %%rax, %%rdx\n"
      "jmp run_begin\n"
      "run_end:\n" ::
          : "rax", "rbx", "rdx", "xmm9", "memory");
  return nullptr;
}

__attribute__((noinline)) void* wait(void*) {
  asm volatile(
      "mov $0x2222222222222222, %%r12\n"
      "movq %%r12, %%xmm9\n"
      "movl $1, waiting(%%rip)\n"
      ".globl wait_begin, wait_end\n"
      "wait_begin:\n"
      "mov $34, %%eax\n"  // pause
      "syscall\n"
      "wait_end:\n"
      "jmp wait_begin\n" ::
          : "rax", "rcx", "r11", "r12", "xmm9", "memory");
  return nullptr;
}

__attribute__((noinline)) void* die(void*) {
  while (__atomic_load_n(&running, __ATOMIC_RELAXED) == 0 || __atomic_load_n(&waiting, __ATOMIC_RELAXED) == 0)
    sched_yield();
  std::printf("%lx %lx %lx %lx %lx\n", reinterpret_cast<unsigned long>(run_begin),
              reinterpret_cast<unsigned long>(run_end), reinterpret_cast<unsigned long>(wait_begin),
              reinterpret_cast<unsigned long>(wait_end), reinterpret_cast<unsigned long>(die_here));
  std::fflush(stdout);
  asm volatile(
      "mov $0x3333333333333333, %%r13\n"
      "movq %%r13, %%xmm9\n"
      ".globl die_here\n"
      "die_here:\n"
      "ud2\n" ::
          : "r13", "xmm9");
  return nullptr;
}

}  // namespace

int main(int count, char** words) {
  pthread_t first, second;
  const bool in_thread = count > 1 && std::strcmp(words[1], "thread") == 0;
  pthread_create(&first, nullptr, wait, nullptr);
  pthread_create(&second, nullptr, in_thread ? die : run, nullptr);
  (in_thread ? run : die)(nullptr);
}
