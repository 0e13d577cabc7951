// Opens modelled counters of other threads and processes, which run or wait meanwhile.
#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// What the others do, in memory that all share: each round has a million instructions, two for each cycle at least.
static struct {
  volatile int tid, rounds_wanted, rounds_done;
}* shared;

static void* run_rounds(void* unused) {
  shared->tid = (int)syscall(SYS_gettid);
  for (int done = 0; shared->rounds_wanted >= 0;) {
    while (shared->rounds_wanted == done) usleep(100);
    if (shared->rounds_wanted < 0) break;
    uint64_t n = 500000;
    asm volatile("1: dec %0\n jnz 1b" : "+r"(n) : : "cc");
    shared->rounds_done = ++done;
  }
  return unused;
}

static void wait_for(int rounds) {
  shared->rounds_wanted = rounds;
  while (shared->rounds_done < rounds) usleep(100);
}

static int open_event(uint64_t config, pid_t pid, int group) {
  struct perf_event_attr attr;
  memset(&attr, 0, sizeof attr);
  attr.size = sizeof attr;
  attr.config = config;
  attr.disabled = group == -1;
  attr.exclude_kernel = 1;
  return (int)syscall(SYS_perf_event_open, &attr, pid, -1, group, PERF_FLAG_FD_CLOEXEC);
}

static uint64_t value_of(int fd) {
  uint64_t value = 0;
  return read(fd, &value, sizeof value) == sizeof value ? value : 0;
}

// Counts of `rounds` rounds: instructions, with some of the waits in between, and cycles.
static const char* describe(uint64_t instructions, uint64_t cycles, int rounds) {
  const uint64_t least = (uint64_t)rounds * 1000000;
  if (instructions < least || instructions > least + 400000) return "wrong instructions";
  return cycles < least / 2 || cycles > 2 * least ? "wrong cycles" : "right";
}

// A thread or process is counted while it runs, from when the group is switched on until it is switched off.
static void count_others(void) {
  while (shared->tid == 0) usleep(100);
  wait_for(1);
  const int leader = open_event(PERF_COUNT_HW_INSTRUCTIONS, shared->tid, -1);
  const int member = open_event(PERF_COUNT_HW_CPU_CYCLES, shared->tid, leader);
  if (member < 0) printf("not opened: %s; ", strerror(errno));
  wait_for(2);
  printf("off: %lu, %lu", value_of(leader), value_of(member));
  int failures = ioctl(leader, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP) != 0;
  wait_for(4);
  printf("; on: %s", describe(value_of(leader), value_of(member), 2));
  wait_for(5);
  failures += ioctl(leader, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP) != 0;
  const uint64_t instructions = value_of(leader), cycles = value_of(member);
  printf(", %s", describe(instructions, cycles, 3));
  wait_for(7);
  printf("; off: %lu, %lu more", value_of(leader) - instructions, value_of(member) - cycles);
  failures += ioctl(leader, PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP) != 0;
  failures += ioctl(leader, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP) != 0;
  wait_for(8);
  printf("; on: %s", describe(value_of(leader), value_of(member), 1));
  shared->rounds_wanted = -1;
  printf("; %d failures\n", failures);
}

static void* spin(void* unused) {
  for (uint64_t n = 1ull << 40; n > 0; n--) asm volatile("");
  return unused;
}

// Threads that run when their process ends are counted, too.
static void end_with_threads(void) {
  struct perf_event_attr attr;
  memset(&attr, 0, sizeof attr);
  attr.size = sizeof attr;
  attr.config = PERF_COUNT_HW_CPU_CYCLES;
  attr.exclude_kernel = attr.inherit = 1;
  const int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
  const pid_t child = fork();
  if (child == 0) {
    pthread_t thread;
    pthread_create(&thread, NULL, spin, NULL);
    usleep(20000);
    exit(0);
  }
  waitpid(child, NULL, 0);
  printf("%s\n", value_of(fd) > 100000 ? "counted" : "not counted");
}

// An event without samples polls as the ring of its leader does.
static void poll_member(void) {
  struct perf_event_attr attr;
  memset(&attr, 0, sizeof attr);
  attr.size = sizeof attr;
  attr.config = PERF_COUNT_HW_INSTRUCTIONS;
  attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_READ;
  attr.exclude_kernel = attr.disabled = 1;
  attr.sample_period = 1000000;
  const int leader = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
  attr.config = PERF_COUNT_HW_BRANCH_INSTRUCTIONS;
  attr.sample_period = 0;
  const int member = (int)syscall(SYS_perf_event_open, &attr, 0, -1, leader, 0);
  mmap(NULL, 2 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, leader, 0);
  const int redirected = ioctl(member, PERF_EVENT_IOC_SET_OUTPUT, leader);
  struct pollfd polled = {member, POLLIN, 0};
  const int ready = poll(&polled, 1, 0);
  printf("redirected: %d, ready: %d, %x\n", redirected, ready, (unsigned)polled.revents);
}

// A process that is stopped while it executes code is counted from when it continues, also if the reader can open no
// files.
static void count_stopped(bool has_descriptors) {
  const pid_t child = fork();
  if (child == 0) spin(NULL);
  usleep(200000);
  kill(child, SIGSTOP);
  waitpid(child, NULL, WUNTRACED);
  const int instructions = open_event(PERF_COUNT_HW_INSTRUCTIONS, child, -1);
  if (!has_descriptors) setrlimit(RLIMIT_NOFILE, &(struct rlimit){(rlim_t)instructions + 2, (rlim_t)instructions + 2});
  const int cycles = open_event(PERF_COUNT_HW_CPU_CYCLES, child, -1);
  const int failures = ioctl(instructions, PERF_EVENT_IOC_ENABLE, 0) + ioctl(cycles, PERF_EVENT_IOC_ENABLE, 0);
  printf("%d failures; stopped: %lu, %lu", failures, value_of(instructions), value_of(cycles));
  kill(child, SIGCONT);
  while (value_of(instructions) < 4000000) usleep(1000);
  uint64_t executed = value_of(instructions), value = 0;
  const bool is_read = read(cycles, &value, sizeof value) == sizeof value;
  printf("; then: %s\n", !is_read ? "not known" : value < executed / 4 ? "too few cycles" : "counted");
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
}

static long waits(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nvcsw;
}

// Requests that do not concern counts do not wait for a process that cannot answer.
static void ask_for_id(void) {
  int ends[2];
  if (pipe(ends) != 0) return;
  const pid_t reader = fork();
  char byte = 0;
  if (reader == 0)
    while (read(ends[0], &byte, 1) == 1) continue;
  const int other = open_event(PERF_COUNT_HW_CPU_CYCLES, reader, -1);
  ioctl(other, PERF_EVENT_IOC_ENABLE, 0);
  if (write(ends[1], &byte, 1) != 1) return;
  usleep(100000);
  const long before = waits();
  uint64_t id = 0;
  const int result = ioctl(other, PERF_EVENT_IOC_ID, &id);
  printf("%d, %s\n", result, waits() - before > 20 ? "has waited" : "at once");
  kill(reader, SIGKILL);
  waitpid(reader, NULL, 0);
}

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "";
  shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (strcmp(what, "thread") == 0) {
    pthread_t thread;
    pthread_create(&thread, NULL, run_rounds, NULL);
    count_others();
    pthread_join(thread, NULL);
  }
  if (strcmp(what, "process") == 0) {
    const pid_t child = fork();
    if (child == 0) {
      run_rounds(NULL);
      _exit(0);
    }
    count_others();
    waitpid(child, NULL, 0);
  }
  if (strcmp(what, "stopped") == 0) count_stopped(true);
  if (strcmp(what, "without descriptors") == 0) count_stopped(false);
  if (strcmp(what, "id") == 0) ask_for_id();
  if (strcmp(what, "ending") == 0) end_with_threads();
  if (strcmp(what, "member") == 0) poll_member();
  return 0;
}
