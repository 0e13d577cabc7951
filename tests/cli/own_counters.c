// Opens hardware counters itself, as benchmark libraries do, and prints what they count: one line for each case.
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct perf_event_attr attributes(uint32_t type, uint64_t config) {
  struct perf_event_attr attr;
  memset(&attr, 0, sizeof attr);
  attr.type = type;
  attr.size = sizeof attr;
  attr.config = config;
  attr.disabled = 1;
  attr.exclude_kernel = 1;
  attr.exclude_hv = 1;
  return attr;
}

static int open_event(struct perf_event_attr* attr, int pid, int cpu, int group, unsigned long flags) {
  return (int)syscall(SYS_perf_event_open, attr, pid, cpu, group, flags);
}

static int open_instructions(void) {
  struct perf_event_attr attr = attributes(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
  return open_event(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

// 2n instructions, n of them branches, between two system calls that switch the counters on and off: with the second
// call 3 instructions more.
static void run_loop(int fd, uint64_t n) {
  register long flag asm("rdx") = PERF_IOC_FLAG_GROUP;
  register uint64_t left asm("r8") = n;
  long result = SYS_ioctl, request = PERF_EVENT_IOC_ENABLE;
  asm volatile(
      "syscall\n"
      "1: dec %%r8\n jnz 1b\n"
      "mov %[off], %%esi\n"
      "mov %[call], %%eax\n"
      "syscall\n"
      : "+a"(result), "+S"(request), "+r"(left)
      : "D"((long)fd), "r"(flag), [off] "i"(PERF_EVENT_IOC_DISABLE), [call] "i"(SYS_ioctl)
      : "rcx", "r11", "memory", "cc");
}

static int open_inherited(int cpu) {
  struct perf_event_attr attr = attributes(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
  attr.inherit = 1;
  return open_event(&attr, 0, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static uint64_t value_of(int fd) {
  uint64_t value = 0;
  return read(fd, &value, sizeof value) == sizeof value ? value : 0;
}

// The calls of nanobench, and of google-benchmark with libpfm.
static void count_group(void) {
  struct perf_event_attr attr = attributes(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
  attr.read_format =
      PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  const int leader = open_event(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  attr.config = PERF_COUNT_HW_BRANCH_INSTRUCTIONS;
  const int branches = open_event(&attr, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
  uint64_t ids[2] = {0, 0};
  ioctl(leader, PERF_EVENT_IOC_ID, &ids[0]);
  ioctl(branches, PERF_EVENT_IOC_ID, &ids[1]);
  for (uint64_t n = 1; n <= 1000000; n *= 1000) {
    uint64_t values[7] = {0};
    ioctl(leader, PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP);
    run_loop(leader, n);
    const long bytes = read(leader, values, sizeof values);
    printf("group %lu: %ld bytes, %lu values, %lu instructions, %lu branches, ids %s, times %s\n", n, bytes, values[0],
           values[3], values[5], ids[0] != ids[1] && values[4] == ids[0] && values[6] == ids[1] ? "match" : "differ",
           values[1] != 0 && values[1] == values[2] ? "equal" : "differ");
  }
  uint64_t small[2];
  const long got = read(leader, small, sizeof small);
  printf("short read: %ld, %s\n", got, strerror(errno));
}

// A group of events of both kinds, as nanobench opens it: instructions, page faults, branches, page faults.
static void count_mixed(int first) {
  const struct perf_event_attr of_both[2] = {attributes(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS),
                                             attributes(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS)};
  int fd[4] = {-1, -1, -1, -1};
  uint64_t ids[4], values[3 + 2 * 4] = {0};
  for (int i = 0; i < 4; i++) {
    struct perf_event_attr attr = of_both[(first + i) % 2];
    if (i == 2 && attr.type == PERF_TYPE_HARDWARE) attr.config = PERF_COUNT_HW_BRANCH_INSTRUCTIONS;
    attr.disabled = i == 0;
    attr.read_format =
        PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    fd[i] = open_event(&attr, 0, -1, fd[0], 0);
    if (fd[i] < 0) printf("%d: %s\n", i, strerror(errno));
    ioctl(fd[i], PERF_EVENT_IOC_ID, &ids[i]);
  }
  char* const pages = mmap(NULL, 100 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (int i = 0; i < 100; i++) pages[i * 4096] = 1;
  run_loop(fd[0], 1000);
  const long bytes = read(fd[0], values, sizeof values);
  printf("%ld bytes, %lu values:", bytes, values[0]);
  for (int i = 0; i < 4; i++) {
    const uint64_t value = values[3 + 2 * i];
    if ((first + i) % 2 == 1)
      printf(" %lu", value);
    else
      printf(value < 100 ? " few" : " many");
    if (values[4 + 2 * i] != ids[i]) printf(" of another event");
  }
  ioctl(fd[0], PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP);
  for (int i = 3; i >= 0; i--) ioctl(fd[i], PERF_EVENT_IOC_ENABLE, 0);
  munmap(pages, 100 * 4096);
  char* const others = mmap(NULL, 100 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (int i = 0; i < 100; i++) others[i * 4096] = 1;
  ioctl(fd[0], PERF_EVENT_IOC_DISABLE, 0);
  read(fd[1], values, sizeof values);
  printf(", then");
  for (int i = 0; i < 4; i++) printf(values[3 + 2 * i] < 100 ? " few" : " many");
  close(fd[1]);
  printf(", then %ld bytes\n", (long)read(fd[0], values, sizeof values));
}

// The counter, as perf_event_open(2) documents to read it. -1: not in user mode.
static int64_t read_mapped(const volatile struct perf_event_mmap_page* page) {
  while (1) {
    const uint32_t lock = page->lock;
    asm volatile("" ::: "memory");
    const uint32_t index = page->index;
    int64_t count = page->offset;
    if (!page->cap_user_rdpmc || index == 0) return -1;
    uint32_t low, high;
    asm volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(index - 1));
    const unsigned unused = 64 - page->pmc_width;
    count += (int64_t)(((uint64_t)high << 32 | low) << unused) >> unused;
    asm volatile("" ::: "memory");
    if (page->lock == lock) return count;
  }
}

static void count_mapped(void) {
  const int fd = open_instructions();
  const volatile struct perf_event_mmap_page* const page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
  if (page == MAP_FAILED) return (void)printf("mapped: %s\n", strerror(errno));
  printf("mapped: off %ld", (long)read_mapped(page));
  run_loop(fd, 1000);
  printf(", offset %ld", (long)page->offset);
  ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
  // Twice with the same instructions between the two reads: the counter has no error of its own.
  uint32_t low[4], high;
  const uint32_t counter = page->index - 1;
  asm volatile("rdpmc\n mov %%eax, %[a]\n rdpmc\n mov %%eax, %[b]\n mov $500, %%esi\n 1: dec %%esi\n jnz 1b\n rdpmc\n"
               : [a] "=&r"(low[0]), [b] "=&r"(low[1]), "=&a"(low[2]), "=&d"(high)
               : "c"(counter)
               : "esi", "cc");
  const int64_t before = read_mapped(page);
  const int64_t by_read = (int64_t)value_of(fd);
  const int64_t after = read_mapped(page);
  printf(", between: %u %u, %s\n", low[1] - low[0], low[2] - low[1],
         before < by_read && by_read < after && after - before < 5000 ? "in order" : "not in order");
}

static void count_duplicates(void) {
  const int fd = open_instructions();
  const int second = dup(fd), third = fcntl(fd, F_DUPFD_CLOEXEC, 100);
  close(fd);
  run_loop(second, 1000);
  printf("duplicates: %lu %lu\n", value_of(second), value_of(third));
  dup2(third, second);
  struct iovec part = {.iov_base = &(uint64_t){0}, .iov_len = 8};
  printf("replaced: %lu, readv %ld\n", value_of(second), (long)readv(second, &part, 1));
  close(second);
  close_range(100, ~0U, 0);
  uint64_t value;
  printf("closed: %ld\n", (long)read(third, &value, sizeof value));
}

static void count_in_child(void) {
  const int fd = open_instructions();
  run_loop(fd, 1000);
  fflush(stdout);
  if (fork() == 0) {
    printf("child: %lu\n", value_of(fd));
    const int own = open_instructions();
    run_loop(own, 1000);
    printf("child's own: %lu\n", value_of(own));
    fflush(stdout);
    _exit(0);
  }
  wait(NULL);
  printf("parent: %lu\n", value_of(fd));
}

static void count_rounds(uint64_t n) {
  for (volatile uint64_t i = 0; i < n; i++) {
  }
}

// A vfork child shares the parent's memory, and has descriptors of its own. When the leader of a group that is switched
// off is closed, the other event begins to count.
static void close_elsewhere(void) {
  const int fd = open_instructions();
  run_loop(fd, 1000);
  if (vfork() == 0) {
    close(fd);
    _exit(0);
  }
  printf("closed in a vfork child: %lu\n", value_of(fd));
  const int leader = open_instructions();
  struct perf_event_attr attr = attributes(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
  attr.disabled = 0;
  const int other = open_event(&attr, 0, -1, leader, 0);
  count_rounds(100000);
  close(leader);
  const uint64_t before = value_of(other);
  count_rounds(100000);
  const uint64_t after = value_of(other);
  printf("leader closed: %s, then %s\n", before < 10000 ? "few" : "many", after > 100000 ? "many" : "few");
}

static void wait_until_asleep(int tid) {
  char path[64], text[512] = "";
  snprintf(path, sizeof path, "/proc/%d/stat", tid);
  do {
    usleep(1000);
    FILE* const file = fopen(path, "r");
    if (file == NULL || fgets(text, sizeof text, file) == NULL) _exit(1);
    fclose(file);
  } while (strstr(text, ") S ") == NULL);
}

static int of_thread, inherited;
static void* count_thread(void* unused) {
  (void)unused;
  of_thread = open_instructions();
  run_loop(of_thread, 1000);
  wait_until_asleep(getpid());
  run_loop(inherited, 1000);
  return NULL;
}

static void count_threads(void) {
  struct perf_event_attr attr = attributes(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
  attr.inherit = 1;
  inherited = open_event(&attr, 0, -1, -1, 0);
  run_loop(inherited, 1000);
  printf("inherited: %lu\n", value_of(inherited));
  pthread_t thread;
  pthread_create(&thread, NULL, count_thread, NULL);
  pthread_join(thread, NULL);
  printf("of a thread: %lu, inherited with it: %lu\n", value_of(of_thread), value_of(inherited));
  fflush(stdout);
  if (fork() == 0) {
    wait_until_asleep(getppid());
    run_loop(inherited, 1000);
    _exit(0);
  }
  wait(NULL);
  printf("with a process: %lu\n", value_of(inherited));
  ioctl(inherited, PERF_EVENT_IOC_RESET, 0);
  printf("reset: %lu\n", value_of(inherited));
}

// The calls of `perf stat`: the events are opened on a child that waits, and begin when it executes a program.
static void count_program(char* path) {
  int go[2];
  if (pipe2(go, O_CLOEXEC) != 0) return;
  const pid_t child = fork();
  if (child == 0) {
    char byte;
    if (read(go[0], &byte, 1) == 1) execl(path, path, "two", (char*)NULL);
    _exit(1);
  }
  struct perf_event_attr attr = attributes(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
  attr.inherit = 1;
  attr.enable_on_exec = 1;
  const int fd = open_event(&attr, child, -1, -1, PERF_FLAG_FD_CLOEXEC);
  struct perf_event_attr faults = attributes(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
  faults.inherit = 1;
  faults.disabled = 0;
  const int with = open_event(&faults, child, -1, fd, PERF_FLAG_FD_CLOEXEC);
  if (write(go[1], "", 1) != 1) return;
  waitpid(child, NULL, 0);
  printf("%lu\nfaults: %s\n", value_of(fd), with < 0 || value_of(with) > 10 ? "many" : "few");
}

static void run_two(void) {
  if (fork() == 0) _exit(0);
  wait(NULL);
}

// A program executes another one, which has the descriptor.
static void execute_with_counter(char* path) {
  char number[16];
  const int fd = open_event(&(struct perf_event_attr){.type = PERF_TYPE_HARDWARE,
                                                      .size = sizeof(struct perf_event_attr),
                                                      .config = PERF_COUNT_HW_INSTRUCTIONS,
                                                      .exclude_kernel = 1},
                            0, -1, -1, 0);
  snprintf(number, sizeof number, "%d", fd);
  execl(path, path, "executed", number, (char*)NULL);
}

static void count_as_executed(const char* number) {
  const int fd = atoi(number);
  const uint64_t before = value_of(fd);
  ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
  ioctl(fd, PERF_EVENT_IOC_RESET, 0);
  run_loop(fd, 1000);
  printf("executed: %s, then %lu\n", before > 10000 ? "many" : "few", value_of(fd));
}

// Cycles and mispredictions of 100,000 rounds, and the same with a child that executes this program.
static void count_modelled(char* path) {
  struct perf_event_attr attr = attributes(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
  attr.inherit = 1;
  const int cycles = open_event(&attr, 0, -1, -1, 0);
  attr.config = PERF_COUNT_HW_BRANCH_MISSES;
  const int misses = open_event(&attr, 0, -1, cycles, 0);
  attr.config = PERF_COUNT_HW_REF_CPU_CYCLES;
  const int references = open_event(&attr, 0, -1, cycles, 0);
  ioctl(misses, PERF_EVENT_IOC_ENABLE, 0);
  ioctl(references, PERF_EVENT_IOC_ENABLE, 0);
  run_loop(cycles, 100000);
  ioctl(misses, PERF_EVENT_IOC_ENABLE, 0);
  const uint64_t alone = value_of(cycles);
  printf("cycles: %s, ref-cycles: %s, misses: %s\n", alone > 90000 && alone < 110000 ? "one a round" : "wrong",
         value_of(references) == alone ? "the same" : "others", value_of(misses) < 100 ? "few" : "many");
  ioctl(cycles, PERF_EVENT_IOC_ENABLE, 0);
  if (fork() == 0) execl(path, path, "two", (char*)NULL);
  wait(NULL);
  printf("of a program: %s\n", value_of(cycles) > alone + 20000 ? "more" : "no more");
  attr.inherit = 0;
  const pid_t child = fork();
  if (child == 0) return (void)pause();
  printf("of another process: %s, ", open_event(&attr, child, -1, -1, 0) < 0 ? strerror(errno) : "opened");
  attr.enable_on_exec = attr.disabled = 1;
  printf("from its next program on: %s\n", open_event(&attr, child, -1, -1, 0) < 0 ? strerror(errno) : "opened");
  attr.enable_on_exec = 0;
  kill(child, SIGKILL);
  const struct perf_event_mmap_page* const page =
      mmap(NULL, 4096, PROT_READ, MAP_SHARED, open_event(&attr, 0, -1, -1, 0), 0);
  printf("by rdpmc: %s\n", page != MAP_FAILED && page->cap_user_rdpmc ? "yes" : "no");
}

// Threads that open, read and close events of their own, while they fork children that do so, too, or are killed.
static int wrong_reads;
static void* use_events(void* number) {
  struct perf_event_attr attr = attributes(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
  attr.inherit = 1;
  for (intptr_t i = 0; i < 20; i++) {
    attr.config = PERF_COUNT_HW_INSTRUCTIONS;
    const int leader = open_event(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    attr.config = PERF_COUNT_HW_BRANCH_INSTRUCTIONS;
    const int member = open_event(&attr, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
    ioctl(leader, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
    if ((i + (intptr_t)number) % 3 == 0) {
      const pid_t child = fork();
      if (child == 0) {
        close(open_instructions());
        if (i % 2 == 1) raise(SIGKILL);
        _exit(0);
      }
      waitpid(child, NULL, 0);
    }
    if (value_of(member) == 0 || value_of(inherited) == 0) __atomic_add_fetch(&wrong_reads, 1, __ATOMIC_RELAXED);
    close(leader);
    close(member);
  }
  return NULL;
}

static void count_together(void) {
  struct perf_event_attr attr = attributes(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
  attr.inherit = 1;
  attr.disabled = 0;
  inherited = open_event(&attr, 0, -1, -1, 0);
  pthread_t threads[4];
  for (intptr_t i = 0; i < 4; i++) pthread_create(&threads[i], NULL, use_events, (void*)i);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  printf("wrong reads: %d\n", wrong_reads);
}

// A process that was there before the event receives its descriptor.
static void pass_counter(void) {
  int ends[2];
  char byte = 0, control[CMSG_SPACE(sizeof(int))] = {0};
  struct iovec data = {.iov_base = &byte, .iov_len = 1};
  struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return;
  if (fork() == 0) {
    int received = -1;
    if (recvmsg(ends[1], &message, 0) == 1) memcpy(&received, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof received);
    printf("received: %lu\n", value_of(received));
    fflush(stdout);
    _exit(0);
  }
  const int fd = open_instructions();
  run_loop(fd, 1000);
  struct cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof fd);
  memcpy(CMSG_DATA(header), &fd, sizeof fd);
  if (sendmsg(ends[0], &message, 0) == 1) wait(NULL);
}

static void switch_all(void) {
  const int first = open_instructions(), second = open_instructions();
  prctl(PR_TASK_PERF_EVENTS_ENABLE);
  prctl(PR_TASK_PERF_EVENTS_DISABLE);
  const uint64_t one = value_of(first), other = value_of(second);
  printf("switched: %s, %s\n", one == other ? "equal" : "different", one > 2 && one < 50 ? "few" : "many");
}

static void open_many(void) {
  uint64_t sum = 0;
  for (int i = 0; i < 100000; i++) {
    const int fd = open_instructions();
    if (i % 1000 == 0) {
      run_loop(fd, 1000);
      sum += value_of(fd);
    }
    close(fd);
  }
  printf("100000 opens: %lu\n", sum);
}

static void print_error(const char* what, struct perf_event_attr attr, int pid, int cpu, int group, long flags) {
  const int fd = open_event(&attr, pid, cpu, group, (unsigned long)flags);
  printf("%s: %s\n", what, fd < 0 ? strerror(errno) : "opened");
  if (fd >= 0) close(fd);
}

// Each wrong attribute, of an event of this type.
static void print_errors(uint32_t type, uint64_t config) {
  const struct perf_event_attr good = attributes(type, config);
  struct perf_event_attr attr;
#define WITH(change) (attr = good, change, attr)
  print_error("nothing wrong", good, 0, -1, -1, 0);
  print_error("size 0", WITH(attr.size = 0), 0, -1, -1, 0);
  print_error("size 8", WITH(attr.size = 8), 0, -1, -1, 0);
  print_error("size 5000", WITH(attr.size = 5000), 0, -1, -1, 0);
  print_error("sample type", WITH(attr.sample_type = 1ull << 63), 0, -1, -1, 0);
  print_error("read format", WITH(attr.read_format = 1 << 20), 0, -1, -1, 0);
  print_error("reserved", WITH(attr.__reserved_2 = 1), 0, -1, -1, 0);
  print_error("inherit_thread", WITH(attr.inherit_thread = 1), 0, -1, -1, 0);
  print_error("inherited group", WITH((attr.inherit = 1, attr.read_format = PERF_FORMAT_GROUP)), 0, -1, -1, 0);
  print_error("sigtrap", WITH(attr.sigtrap = 1), 0, -1, -1, 0);
  print_error("two of exec", WITH((attr.remove_on_exec = 1, attr.enable_on_exec = 1)), 0, -1, -1, 0);
  print_error("period", WITH(attr.sample_period = 1ull << 63), 0, -1, -1, 0);
  print_error("flags", good, 0, -1, -1, 1 << 10);
  print_error("group", good, 0, -1, 9999, 0);
  print_error("group of another file", good, 0, -1, 0, 0);
  print_error("process", good, 0x3fffffff, -1, -1, 0);
#undef WITH
}

static uint64_t state = 1;
static uint64_t random_below(uint64_t limit) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state % limit;
}

static int error_of(struct perf_event_attr* attr, int pid, int group, unsigned long flags) {
  const int fd = open_event(attr, pid, -1, group, flags);
  if (fd < 0) return errno;
  close(fd);
  return 0;
}

// Changes attributes at random, and compares the error for a hardware event with that for a software event.
static void compare_errors(void) {
  static const uint32_t sizes[] = {0, 8, 63, 64, 72, 80, 96, 104, 112, 120, 128, 136, 200, 4096, 4097};
  static const int pids[] = {0, -2, 0x3fffffff}, groups[] = {-1, 0, 77, -2};
  long different = 0, opened = 0;
  for (int i = 0; i < 5000; i++) {
    union {
      struct perf_event_attr attr;
      uint64_t words[16];
      uint8_t bytes[4097];
    } wanted = {.attr = attributes(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS)};
    struct perf_event_attr* const attr = &wanted.attr;
    int pid = 0, group = -1;
    unsigned long flags = 0;
    for (uint64_t changes = 1 + random_below(3); changes > 0; changes--) switch (random_below(13)) {
        case 0: attr->size = sizes[random_below(sizeof sizes / sizeof *sizes)]; break;
        case 1: wanted.bytes[128 + random_below(64)] = 1, attr->size = 192; break;
        case 2: attr->read_format = 1ull << random_below(8); break;
        case 3: attr->sample_type = 1ull << random_below(27); break;
        case 4: wanted.words[5] |= 1ull << random_below(42); break;
        case 5:
          attr->sample_type |= PERF_SAMPLE_BRANCH_STACK, attr->branch_sample_type = 1ull << random_below(22);
          break;
        case 6: attr->sample_type |= PERF_SAMPLE_REGS_USER, attr->sample_regs_user = random_below(1ull << 62); break;
        case 7: attr->sample_type |= PERF_SAMPLE_STACK_USER, attr->sample_stack_user = random_below(1 << 17); break;
        case 8: attr->use_clockid = 1, attr->clockid = (int)random_below(14); break;
        case 9: attr->sample_type |= PERF_SAMPLE_CALLCHAIN, attr->sample_max_stack = random_below(200); break;
        case 10: pid = pids[random_below(3)]; break;
        case 11: group = groups[random_below(4)]; break;
        default: flags = 1ul << random_below(6); break;
      }
    attr->exclude_kernel = 1;
    attr->freq = attr->watermark = attr->precise_ip = 0;
    const uint32_t size = attr->size;
    const int kernels = error_of(attr, pid, group, flags);
    const uint32_t answered = attr->size;
    attr->size = size;
    attr->type = PERF_TYPE_HARDWARE;
    attr->config = PERF_COUNT_HW_INSTRUCTIONS;
    different += error_of(attr, pid, group, flags) != kernels || attr->size != answered;
    opened += kernels == 0;
  }
  printf("5000 attributes: %ld differ, %s\n", different, opened > 500 ? "many opened" : "few opened");
}

static void print_other_errors(void) {
  struct perf_event_attr attr = attributes(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
  attr.exclude_kernel = 0;
  print_error("kernel", attr, 0, -1, -1, 0);
  print_error("cycles", attributes(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES), 0, -1, -1, 0);
  print_error("number", attributes(PERF_TYPE_HARDWARE, 99), 0, -1, -1, 0);
  print_error("unknown code", attributes(PERF_TYPE_RAW, 0xffff), 0, -1, -1, 0);
  print_error("Intel's branches", attributes(PERF_TYPE_RAW, 0xc4), 0, -1, -1, 0);
  print_error("AMD's branches", attributes(PERF_TYPE_RAW, 0xc2), 0, -1, -1, 0);
  print_error("loads", attributes(PERF_TYPE_HW_CACHE, 0), 0, -1, -1, 0);
  const int fd = open_instructions();
  printf("mapped: %s\n", mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED ? strerror(errno) : "yes");
  struct pollfd waited = {.fd = fd, .events = POLLIN};
  printf("poll: %d, %x\n", poll(&waited, 1, 0), waited.revents);
}

// Children are killed while they open and close counters, some of them in the middle of that.
static void count_after_kills(void) {
  struct timespec before, after;
  int failures = 0, waits = 0;
  for (int i = 0; i < 40; i++) {
    const int child = fork();
    while (child == 0) close(open_instructions());
    usleep(500 + i * 50);
    kill(child, SIGKILL);
    clock_gettime(CLOCK_MONOTONIC, &before);
    const int fd = open_instructions();
    clock_gettime(CLOCK_MONOTONIC, &after);
    waits += after.tv_sec - before.tv_sec > 1;
    run_loop(fd, 1000);
    failures += value_of(fd) != 2003;
    close(fd);
    waitpid(child, NULL, 0);
  }
  printf("killed: %d wrong, %d long waits\n", failures, waits);
}

static int bind_to(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  return sched_setaffinity(0, sizeof set, &set);
}

// As LIKWID opens its events: on a thread and a processor.
static void count_on_processors(void) {
  struct perf_event_attr attr = attributes(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
  cpu_set_t all;
  sched_getaffinity(0, sizeof all, &all);
  int first = 0, second;
  while (!CPU_ISSET(first, &all)) first++;
  for (second = first + 1; second < 1024 && !CPU_ISSET(second, &all);) second++;
  if (second == 1024) {
    printf("one processor\n");
    return;
  }
  print_error("unbound", attr, 0, first, -1, 0);
  print_error("unknown processor", attr, 0, 100000, -1, 0);
  print_error("none", attr, -1, -1, -1, 0);
  bind_to(first);
  const int here = open_event(&attr, 0, first, -1, 0), there = open_event(&attr, 0, second, -1, 0);
  run_loop(here, 1000), run_loop(there, 1000);
  printf("bound: %lu, elsewhere %lu\n", value_of(here), value_of(there));
  bind_to(second);
  run_loop(here, 1000), run_loop(there, 1000);
  printf("moved: %lu, elsewhere %lu\n", value_of(here), value_of(there));
  const int inherited[2] = {open_inherited(second), open_inherited(first)};
  ioctl(inherited[0], PERF_EVENT_IOC_ENABLE, 0), ioctl(inherited[1], PERF_EVENT_IOC_ENABLE, 0);
  const int child = fork();
  if (child == 0) {
    bind_to(first);
    run_loop(-1, 1000000);
    _exit(0);
  }
  waitpid(child, NULL, 0);
  const uint64_t parents = value_of(inherited[0]), childs = value_of(inherited[1]);
  printf("of a child that moved: %s, before: %s\n", childs > 2000000 && childs < 2001000 ? "its loop" : "wrong",
         parents < 20000 ? "few" : "many");
  ioctl(here, PERF_EVENT_IOC_ENABLE, 0);
  sched_setaffinity(0, sizeof all, &all);
  uint64_t value;
  printf("unbound while it counts: %ld bytes\n", (long)read(here, &value, sizeof value));
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "group") == 0) count_group();
  if (strcmp(what, "mixed") == 0) count_mixed(0), count_mixed(1);
  if (strcmp(what, "mapped") == 0) count_mapped();
  if (strcmp(what, "duplicates") == 0) count_duplicates();
  if (strcmp(what, "child") == 0) count_in_child();
  if (strcmp(what, "closed") == 0) close_elsewhere();
  if (strcmp(what, "threads") == 0) count_threads();
  if (strcmp(what, "many") == 0) open_many();
  if (strcmp(what, "program") == 0) count_program(argv[0]);
  if (strcmp(what, "two") == 0) run_two();
  if (strcmp(what, "execute") == 0) execute_with_counter(argv[0]);
  if (strcmp(what, "executed") == 0) count_as_executed(argv[2]);
  if (strcmp(what, "together") == 0) count_together();
  if (strcmp(what, "passed") == 0) pass_counter();
  if (strcmp(what, "kills") == 0) count_after_kills();
  if (strcmp(what, "processors") == 0) count_on_processors();
  if (strcmp(what, "prctl") == 0) switch_all();
  if (strcmp(what, "modelled") == 0) count_modelled(argv[0]);
  if (strcmp(what, "errors") == 0) print_errors(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
  if (strcmp(what, "software") == 0) print_errors(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
  if (strcmp(what, "compare") == 0) compare_errors();
  if (strcmp(what, "others") == 0) print_other_errors();
}
