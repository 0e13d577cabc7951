// own_limits hardware|software: opens and maps counters at the limits, and prints what the kernel answers.
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static const unsigned long page = 4096, sampled = 1000000;
static int is_hardware;

static int open_event(unsigned long period) {
  struct perf_event_attr attr;
  memset(&attr, 0, sizeof attr);
  attr.size = sizeof attr;
  attr.type = is_hardware ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE;
  attr.config = is_hardware ? PERF_COUNT_HW_INSTRUCTIONS : PERF_COUNT_SW_PAGE_FAULTS;
  attr.sample_period = period;
  attr.exclude_kernel = attr.exclude_hv = 1;
  return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static void open_up_to_limit(unsigned long period) {
  const int first = dup(1);
  struct rlimit few;
  getrlimit(RLIMIT_NOFILE, &few);
  few.rlim_cur = (rlim_t)first + 5;
  setrlimit(RLIMIT_NOFILE, &few);
  close(first);
  int opened = 0, all[8];
  while (opened < 8 && (all[opened] = open_event(period)) >= 0) opened++;
  printf("limit: %d opened, then %s\n", opened, strerror(errno));
  while (opened > 0) close(all[--opened]);
}

static void* map(int fd, unsigned long pages, int protection) {
  void* const at = mmap(NULL, pages * page, protection, MAP_SHARED, fd, 0);
  printf("%s ", at == MAP_FAILED ? strerror(errno) : "mapped");
  return at;
}

static void map_again(void) {
  const int fd = open_event(sampled), both = PROT_READ | PROT_WRITE;
  printf("sizes: ");
  void* const first = map(fd, 3, both);
  (void)map(fd, 5, both);
  void* const second = map(fd, 3, both);
  if (first != MAP_FAILED) munmap(first, 3 * page);
  (void)map(fd, 5, both);
  if (second != MAP_FAILED) munmap(second, 3 * page);
  (void)map(fd, 5, both);
  printf("\n");
}

static void change_mapping(void) {
  const int fd = open_event(sampled), both = PROT_READ | PROT_WRITE;
  printf("executable: ");
  (void)map(fd, 3, both | PROT_EXEC);
  void* const at = map(fd, 3, both);
  if (at == MAP_FAILED) return;
  printf("%s ", mprotect(at, 3 * page, both | PROT_EXEC) == 0 ? "changed" : strerror(errno));
  void* const larger = mremap(at, 3 * page, 5 * page, MREMAP_MAYMOVE);
  printf("grown: %s\n", larger == MAP_FAILED ? strerror(errno) : "moved");
}

int main(int argc, char** argv) {
  is_hardware = argc > 1 && strcmp(argv[1], "hardware") == 0;
  if (open_event(0) < 0) return 77;
  map_again();
  change_mapping();
  open_up_to_limit(sampled);
  open_up_to_limit(0);
  return 0;
}
