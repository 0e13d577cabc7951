// Reads its counters by rdpmc, and at once by read(2): many times, amid everything that is counted in another way.
#include <linux/perf_event.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { events = 4 };
typedef const volatile struct perf_event_mmap_page Page;

static uint64_t period;
static sigjmp_buf before_fault;

static int open_event(uint32_t type, uint64_t config, uint64_t sample_period) {
  struct perf_event_attr attr;
  memset(&attr, 0, sizeof attr);
  attr.type = type;
  attr.size = sizeof attr;
  attr.config = config;
  attr.exclude_kernel = 1;
  attr.sample_period = sample_period;
  attr.sample_type = PERF_SAMPLE_IP;
  return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
}

// What read(2) returns more than rdpmc just before it: always the same instructions.
static int64_t difference(int fd, Page* page) {
  register uint64_t low asm("r8"), high asm("r9");
  uint64_t value = 0, counter = page->index - 1;
  const int64_t offset = page->offset;
  asm volatile(
      "rdpmc\n mov %%rax, %%r8\n mov %%rdx, %%r9\n"
      "mov $8, %%edx\n xor %%eax, %%eax\n syscall\n"
      : "=r"(low), "=r"(high), "+c"(counter)
      : "D"((long)fd), "S"(&value)
      : "rax", "rdx", "r11", "memory", "cc");
  return (int64_t)value - offset - ((int64_t)((high << 32 | low) << 16) >> 16);
}

static void leave(int signal) {
  (void)signal;
  siglongjmp(before_fault, 1);
}

// Accesses known only at run time, branches that change, a fault, and a process that shares the memory or has a copy.
static void work(long round, int alone) {
  static char from[1000];
  char to[1000];
  const char* source = from;
  char* target = to;
  long bytes = round % 1000;
  asm volatile("rep movsb" : "+D"(target), "+S"(source), "+c"(bytes) : : "memory");
  for (volatile long i = round % 37; i > 0; i--) {
  }
  if (!alone) return;
  if (round % 50 == 0 && sigsetjmp(before_fault, 1) == 0) *(volatile int*)8 = 1;
  if (round % 100 != 0) return;
  const pid_t child = round % 200 == 0 ? fork() : vfork();
  if (child == 0) _exit(0);
  waitpid(child, NULL, 0);
}

static void* compare(void* alone) {
  const int fd[events] = {open_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, period),
                          open_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 0),
                          open_event(PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_L1D, 0),
                          open_event(PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_L1D | 1 << 8, 0)};
  Page* page[events];
  for (int i = 0; i < events; i++) page[i] = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd[i], 0);
  int64_t first[events] = {0};
  long wrong = 0;
  for (long round = 0; round < 1000; round++) {
    work(round, alone != NULL);
    for (int i = 0; i < events; i++) {
      const int64_t now = difference(fd[i], page[i]);
      if (round == 0) first[i] = now;
      wrong += now != first[i];
    }
  }
  printf("%ld wrong: %ld %ld %ld %ld\n", wrong, (long)first[0], (long)first[1], (long)first[2], (long)first[3]);
  return NULL;
}

int main(int n, char** argument) {
  period = n > 1 ? strtoul(argument[1], NULL, 10) : 0;
  signal(SIGSEGV, leave);
  compare(argument);
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, compare, NULL);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  return 0;
}
