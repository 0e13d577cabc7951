// Opens hardware counters that overflow, as profilers do, and prints what they record: one line for each case.
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum { page = 4096, ring_pages = 64 };

static struct perf_event_attr sampling(uint64_t config, uint64_t period, uint64_t content) {
  struct perf_event_attr attr;
  memset(&attr, 0, sizeof attr);
  attr.type = PERF_TYPE_HARDWARE;
  attr.size = sizeof attr;
  attr.config = config;
  attr.sample_period = period;
  attr.sample_type = content;
  attr.disabled = 1;
  attr.exclude_kernel = 1;
  attr.exclude_hv = 1;
  attr.precise_ip = 2;
  return attr;
}

static int open_event(struct perf_event_attr* attr, int pid, int cpu, int group) {
  return (int)syscall(SYS_perf_event_open, attr, pid, cpu, group, PERF_FLAG_FD_CLOEXEC);
}

static struct perf_event_mmap_page* map_ring(int fd, int pages) {
  void* const at = mmap(NULL, (size_t)(pages + 1) * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return at == MAP_FAILED ? NULL : at;
}

// Copies the next record; returns 0 if there is none.
static int next_record(struct perf_event_mmap_page* ring, void* to) {
  const uint64_t head = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE), tail = ring->data_tail;
  if (head == tail) return 0;
  const char* const data = (const char*)ring + ring->data_offset;
  for (uint64_t i = 0; i < sizeof(struct perf_event_header); i++) ((char*)to)[i] = data[(tail + i) % ring->data_size];
  const uint64_t size = ((struct perf_event_header*)to)->size;
  for (uint64_t i = 0; i < size; i++) ((char*)to)[i] = data[(tail + i) % ring->data_size];
  __atomic_store_n(&ring->data_tail, tail + size, __ATOMIC_RELEASE);
  return 1;
}

// Two instructions a round, after the system call that switches the counter on, and three until it is off.
extern char loop_start[], loop_branch[], loop_end[], loop_call[], loop_last[];
__attribute__((noinline)) static void run_loop(int fd, uint64_t n) {
  register long flag asm("rdx") = 0;
  register uint64_t left asm("r8") = n;
  long result = SYS_ioctl, request = PERF_EVENT_IOC_ENABLE;
  asm volatile(
      "syscall\n"
      ".globl loop_start, loop_branch, loop_end, loop_call, loop_last\n"
      "loop_start: dec %%r8\n"
      "loop_branch: jnz loop_start\n"
      "loop_end: mov %[off], %%esi\n"
      "loop_call: mov %[call], %%eax\n"
      "loop_last: syscall\n"
      : "+a"(result), "+S"(request), "+r"(left)
      : "D"((long)fd), "r"(flag), [off] "i"(PERF_EVENT_IOC_DISABLE), [call] "i"(SYS_ioctl)
      : "rcx", "r11", "memory", "cc");
}

struct sample {
  struct perf_event_header header;
  uint64_t ip;
  uint32_t pid, tid;
  uint64_t period;
};

static uint64_t value_of(int fd) {
  uint64_t value = 0;
  return read(fd, &value, sizeof value) == sizeof value ? value : 0;
}

// Sample k is of the instruction with number k * period, counted from 1.
static void check_addresses(uint64_t config, uint64_t period, uint64_t rounds) {
  struct perf_event_attr attr = sampling(config, period, PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD);
  const int fd = open_event(&attr, 0, -1, -1);
  struct perf_event_mmap_page* const ring = fd < 0 ? NULL : map_ring(fd, ring_pages);
  if (ring == NULL) {
    printf("not opened: %s\n", strerror(errno));
    return;
  }
  run_loop(fd, rounds);
  uint64_t samples = 0, wrong = 0;
  char record[65536];
  while (next_record(ring, record)) {
    const struct sample* const s = (const struct sample*)record;
    samples++;
    const uint64_t number = samples * period;
    const char* const after[] = {loop_end, loop_call, loop_last};
    const char* expected = number % 2 != 0 ? loop_start : loop_branch;
    if (config == PERF_COUNT_HW_BRANCH_INSTRUCTIONS)
      expected = loop_branch;
    else if (number > rounds * 2)
      expected = after[number - rounds * 2 - 1];
    if (s->header.type != PERF_RECORD_SAMPLE || s->header.size != sizeof *s || s->ip != (uint64_t)expected ||
        s->pid != (uint32_t)getpid() || s->tid != (uint32_t)getpid() || s->period != period ||
        s->header.misc != (PERF_RECORD_MISC_USER | PERF_RECORD_MISC_EXACT_IP))
      wrong++;
  }
  printf("period %lu: %lu counted, %lu samples, %lu wrong\n", period, value_of(fd), samples, wrong);
  close(fd);
}

static void record_addresses(void) {
  check_addresses(PERF_COUNT_HW_INSTRUCTIONS, 100003, 5000000);
  check_addresses(PERF_COUNT_HW_INSTRUCTIONS, 7, 1000);
  check_addresses(PERF_COUNT_HW_INSTRUCTIONS, 1, 500);
  check_addresses(PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 1009, 1000000);
}

// --- signals ---

static volatile uint64_t handled, wrong_handled, hangups;
static volatile int handled_fd;

static void on_overflow(int signal, siginfo_t* info, void* context) {
  const char* const at = (const char*)((ucontext_t*)context)->uc_mcontext.gregs[REG_RIP];
  handled++;
  if (info->si_fd != handled_fd || signal != SIGRTMIN + 1 ||
      (at >= loop_start && at <= loop_last && at != loop_start && at != loop_branch))
    wrong_handled++;
  if (info->si_code == POLL_HUP) hangups++;
}

static void handle(int fd) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_overflow;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGRTMIN + 1, &action, NULL);
  struct f_owner_ex owner = {F_OWNER_TID, (int)syscall(SYS_gettid)};
  fcntl(fd, F_SETFL, O_RDWR | O_ASYNC | O_NONBLOCK);
  fcntl(fd, F_SETSIG, SIGRTMIN + 1);
  fcntl(fd, F_SETOWN_EX, &owner);
  handled = wrong_handled = hangups = 0;
  handled_fd = fd;
}

// As PAPI_overflow does: without a ring, a signal at each overflow, at the next instruction.
static void signal_overflows(void) {
  struct perf_event_attr attr = sampling(PERF_COUNT_HW_INSTRUCTIONS, 1000, PERF_SAMPLE_IP);
  const int fd = open_event(&attr, 0, -1, -1);
  handle(fd);
  run_loop(fd, 1000000);
  // The handler and its return are counted as well.
  printf("signals: %s, %lu wrong, flags %s\n", handled == value_of(fd) / 1000 ? "all" : "some", wrong_handled,
         (fcntl(fd, F_GETFL) & O_ASYNC) != 0 ? "kept" : "lost");
  close(fd);
}

// A loop of known count by its overflows; the branches of the handler are counted, too.
static void on_overflow_off(int signal, siginfo_t* info, void* context) {
  (void)signal, (void)info, (void)context;
  handled++;
}
static void count_by_overflows(void) {
  struct perf_event_attr attr = sampling(PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 1000, PERF_SAMPLE_IP);
  const int fd = open_event(&attr, 0, -1, -1);
  handle(fd);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_overflow_off;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGRTMIN + 1, &action, NULL);
  run_loop(fd, 1000000);
  const uint64_t value = value_of(fd);
  printf("loop: %lu overflows, %lu more\n", handled, value < 1003000 ? value - handled * 1000 - handled : value);
  close(fd);
}

// After `n` overflows the event switches itself off, at the instruction.
static void refresh(void) {
  struct perf_event_attr attr = sampling(PERF_COUNT_HW_INSTRUCTIONS, 1000, PERF_SAMPLE_IP);
  const int fd = open_event(&attr, 0, -1, -1);
  handle(fd);
  const int r = ioctl(fd, PERF_EVENT_IOC_REFRESH, 1);
  ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
  ioctl(fd, PERF_EVENT_IOC_RESET, 0);
  uint64_t period = 3000;
  const int changed = ioctl(fd, PERF_EVENT_IOC_PERIOD, &period);
  run_loop(fd, 1000000);
  printf("refresh %d, period %d: %lu signals, %lu of them the last, counted %lu\n", r, changed, handled, hangups,
         value_of(fd));
  close(fd);
}

// A paused ring gets nothing.
static void pause_output(void) {
  struct perf_event_attr attr = sampling(PERF_COUNT_HW_INSTRUCTIONS, 1000, PERF_SAMPLE_IP);
  const int fd = open_event(&attr, 0, -1, -1);
  printf("without a ring: %d", ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1));
  struct perf_event_mmap_page* const ring = map_ring(fd, ring_pages);
  printf(", pause: %d", ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1));
  run_loop(fd, 10000);
  const uint64_t paused = ring->data_head;
  const int goes_on = ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 0);
  run_loop(fd, 10000);
  printf(", bytes: %lu; on: %d, bytes: %s\n", (unsigned long)paused, goes_on, ring->data_head > 100 ? "many" : "few");
}

// --- waiting ---

static void wait_for_samples(void) {
  struct perf_event_attr attr = sampling(PERF_COUNT_HW_INSTRUCTIONS, 1000, PERF_SAMPLE_IP);
  attr.wakeup_events = 10;
  const int fd = open_event(&attr, 0, -1, -1);
  struct perf_event_mmap_page* const ring = map_ring(fd, ring_pages);
  struct pollfd polled = {fd, POLLIN, 0};
  printf("before: %d", poll(&polled, 1, 0));
  run_loop(fd, 4000);
  printf(", 8 samples: %d", poll(&polled, 1, 0));
  run_loop(fd, 2000);
  const int after = poll(&polled, 1, 0), events = polled.revents;
  printf(", 12 samples: %d %d, again: %d", after, events, poll(&polled, 1, 0));
  char record[65536];
  int n = 0;
  while (next_record(ring, record)) n++;
  printf(", read %d\n", n);
  close(fd);
}

// With epoll, the descriptor stays readable until the records were read.
static void wait_by_epoll(void) {
  struct perf_event_attr attr = sampling(PERF_COUNT_HW_INSTRUCTIONS, 1000, PERF_SAMPLE_IP);
  attr.wakeup_events = 1;
  const int fd = open_event(&attr, 0, -1, -1), waits = epoll_create1(0);
  struct perf_event_mmap_page* const ring = map_ring(fd, ring_pages);
  struct epoll_event event = {.events = EPOLLIN};
  epoll_ctl(waits, EPOLL_CTL_ADD, fd, &event);
  printf("epoll: %d", epoll_wait(waits, &event, 1, 0));
  run_loop(fd, 4000);
  printf(" %d", epoll_wait(waits, &event, 1, 0));
  ring->data_tail = ring->data_head;
  printf(" %d\n", epoll_wait(waits, &event, 1, 0));
}

// Threads that sample themselves, and whose children do not; and one that another thread samples.
static void* sample_own_thread(void* rounds) {
  struct perf_event_attr attr = sampling(PERF_COUNT_HW_INSTRUCTIONS, 1009, PERF_SAMPLE_IP);
  const int fd = open_event(&attr, 0, -1, -1);
  struct perf_event_mmap_page* const ring = map_ring(fd, ring_pages);
  for (int i = 0; i < 4; i++) {
    run_loop(fd, (uint64_t)rounds);
    const pid_t child = fork();
    if (child == 0) {
      run_loop(-1, 10000);
      _exit(0);
    }
    waitpid(child, NULL, 0);
  }
  const uint64_t samples = ring->data_head / (sizeof(struct perf_event_header) + sizeof(uint64_t));
  return (void*)(uint64_t)(samples == value_of(fd) / 1009 && samples > 0);
}

static volatile int spinning_thread, stops;
static void* spin(void* none) {
  spinning_thread = (int)syscall(SYS_gettid);
  while (!stops) continue;
  return none;
}

static void sample_threads(void) {
  pthread_t threads[4];
  uint64_t right = 0;
  for (uint64_t i = 0; i < 4; i++) pthread_create(&threads[i], NULL, sample_own_thread, (void*)(100000 + i * 1000));
  for (int i = 0; i < 4; i++) {
    void* result = NULL;
    pthread_join(threads[i], &result);
    right += (uint64_t)result;
  }
  pthread_create(&threads[0], NULL, spin, NULL);
  while (spinning_thread == 0) usleep(100);
  struct perf_event_attr attr = sampling(PERF_COUNT_HW_INSTRUCTIONS, 100003, PERF_SAMPLE_IP);
  const int fd = open_event(&attr, spinning_thread, -1, -1);
  struct perf_event_mmap_page* const ring = map_ring(fd, ring_pages);
  for (int i = 0; i < 5; i++) {
    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
    usleep(2000);
    ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
  }
  const uint64_t samples = ring->data_head / (sizeof(struct perf_event_header) + sizeof(uint64_t));
  printf("threads: %lu right, another one %s\n", right, samples == value_of(fd) / 100003 ? "right" : "wrong");
  stops = 1;
  pthread_join(threads[0], NULL);
}

// A ring that is not read loses samples, and says how many.
static void lose_samples(void) {
  struct perf_event_attr attr = sampling(PERF_COUNT_HW_INSTRUCTIONS, 1000, PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD);
  const int fd = open_event(&attr, 0, -1, -1);
  struct perf_event_mmap_page* const ring = map_ring(fd, 1);
  run_loop(fd, 500000);
  char record[65536];
  const struct perf_event_header* const header = (const struct perf_event_header*)record;
  int samples = 0;
  uint64_t lost = 0;
  while (next_record(ring, record)) samples++;
  run_loop(fd, 1000);
  while (next_record(ring, record)) {
    samples += header->type == PERF_RECORD_SAMPLE;
    if (header->type == PERF_RECORD_LOST) lost += ((uint64_t*)record)[2];
  }
  printf("lost: %d samples, %lu lost, %s\n", samples, lost, samples + lost == 1002 ? "together all" : "some forgotten");
  close(fd);
}

// What the program writes to the page of its ring does not lead the engine elsewhere.
static void write_to_page(void) {
  const uint64_t content = PERF_SAMPLE_IP | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_CALLCHAIN;
  struct perf_event_attr attr = sampling(PERF_COUNT_HW_INSTRUCTIONS, 1000, content);
  attr.sample_stack_user = 65528;
  const int fd = open_event(&attr, 0, -1, -1);
  void* const large = mmap(NULL, (1ul << 44) + 4096, PROT_READ, MAP_SHARED | MAP_NORESERVE, fd, 0);
  printf("16 TiB: %s", large == MAP_FAILED ? "refused" : "mapped");
  struct perf_event_mmap_page* const ring = map_ring(fd, 64);
  const uint64_t offset = ring->data_offset, size = ring->data_size;
  ring->data_offset = 1ul << 40;
  ring->data_size = 0;
  run_loop(fd, 1000);
  ring->data_offset = offset;
  ring->data_size = size;
  char record[65536];
  int samples = 0, complete = 0;
  while (next_record(ring, record)) {
    samples++;
    complete += ((struct perf_event_header*)record)->size > 60000;
  }
  printf(", %d samples, %d complete\n", samples, complete);
  close(fd);
}

// The first sample of an event comes a period after it was opened, whatever others count.
static void open_later(void) {
  struct perf_event_attr attr = sampling(PERF_COUNT_HW_INSTRUCTIONS, 100000, PERF_SAMPLE_IP);
  struct perf_event_mmap_page* rings[2];
  int fds[2];
  for (int i = 0; i < 2; i++) {
    attr.disabled = 0;
    fds[i] = open_event(&attr, 0, -1, -1);
    rings[i] = map_ring(fds[i], 4);
    run_loop(-1, 30000);
  }
  char record[65536];
  int samples[2] = {};
  for (int i = 0; i < 2; i++)
    while (next_record(rings[i], record)) samples[i]++;
  printf("later: %d and %d samples", samples[0], samples[1]);
  close(fds[0]);
  run_loop(-1, 22000);
  while (next_record(rings[1], record)) samples[1]++;
  printf(", then %d\n", samples[1]);
  close(fds[1]);
}

// The ring of a closed event stays as it was while it is mapped.
static void keep_rings(void) {
  struct perf_event_attr attr = sampling(PERF_COUNT_HW_INSTRUCTIONS, 1000, PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD);
  struct perf_event_mmap_page* rings[3];
  uint64_t heads[3];
  for (int i = 0; i < 3; i++) {
    const int fd = open_event(&attr, 0, -1, -1);
    rings[i] = map_ring(fd, 4 << i);
    run_loop(fd, 2000 * (i + 1));
    close(fd);
    heads[i] = rings[i]->data_head;
  }
  printf("rings:");
  for (int i = 0; i < 3; i++)
    printf(" %lu%s", heads[i] / heads[0], rings[i]->data_head == heads[i] ? "" : " then others");
  printf("\n");
}

// --- contents ---

// Values in the order in which a sample has them.
static const uint64_t* sample_at;
static uint64_t next_value(void) { return *sample_at++; }

__attribute__((noinline)) static uint64_t called(int fd, uint64_t n) {
  run_loop(fd, n);
  return n;
}

static void record_contents(void) {
  struct perf_event_attr attr =
      sampling(PERF_COUNT_HW_INSTRUCTIONS, 1001,
               PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_TIME | PERF_SAMPLE_READ |
                   PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER);
  enum { r8_bit = 16, ip_bit = 8, sp_bit = 7 };
  attr.sample_regs_user = 1ull << sp_bit | 1ull << ip_bit | 1ull << r8_bit;
  attr.sample_stack_user = 64;
  attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
  const int fd = open_event(&attr, 0, -1, -1);
  attr.sample_type = 0;
  attr.sample_period = attr.precise_ip = attr.disabled = 0;
  attr.sample_regs_user = attr.sample_stack_user = 0;
  attr.config = PERF_COUNT_HW_BRANCH_INSTRUCTIONS;
  const int branches = open_event(&attr, 0, -1, fd);
  struct perf_event_mmap_page* const ring = map_ring(fd, ring_pages);
  if (branches < 0 || ring == NULL) {
    printf("not opened: %s\n", strerror(errno));
    return;
  }
  uint64_t id = 0;
  ioctl(fd, PERF_EVENT_IOC_ID, &id);
  called(fd, 1000);
  static _Alignas(8) char record[65536];
  next_record(ring, record);
  sample_at = (uint64_t*)(record + sizeof(struct perf_event_header));
  const int has_id = next_value() == id, has_address = next_value() == (uint64_t)loop_start;
  const int has_time = next_value() != 0, has_no_data = next_value() == 0;
  printf("sample: id %d, address %d, time %d, data %d", has_id, has_address, has_time, has_no_data);
  const uint64_t members = next_value(), instructions = next_value();
  next_value();
  printf(", %lu values: %lu and %lu", members, instructions, next_value());
  next_value();
  const uint64_t callers = next_value(), context = next_value(), first = next_value();
  printf(", callers %s", callers >= 3 && context == PERF_CONTEXT_USER && first == (uint64_t)loop_start ? "known" : "?");
  sample_at += callers - 2;
  const uint64_t raw = next_value(), abi = next_value(), sp = next_value(), ip = next_value(), r8 = next_value();
  printf(", raw %lu, registers %lu: %s, r8 %lu", raw, abi, ip == (uint64_t)loop_branch ? "next" : "?", r8);
  const uint64_t bytes = next_value();
  printf(", stack of %lu at %s", bytes, sp < (uint64_t)&bytes && sp + 4096 > (uint64_t)&bytes ? "the frame" : "?");
  sample_at += bytes / 8;
  const uint64_t copied = next_value();
  const int is_complete = (const char*)sample_at == record + ((struct perf_event_header*)record)->size;
  printf(", %lu read, %s\n", copied, is_complete ? "complete" : "wrong size");
}

// --- branches ---

struct branches {
  struct perf_event_header header;
  uint64_t n;
  struct perf_branch_entry entry[32];
};

// The last instruction of the loop, a branch that is not taken, overflows: before it are those of the earlier rounds.
static void record_branches_of(uint64_t rounds, uint64_t filter) {
  struct perf_event_attr attr = sampling(PERF_COUNT_HW_INSTRUCTIONS, 2 * rounds, PERF_SAMPLE_BRANCH_STACK);
  attr.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_TYPE_SAVE | filter;
  const int fd = open_event(&attr, 0, -1, -1);
  struct perf_event_mmap_page* const ring = fd < 0 ? NULL : map_ring(fd, ring_pages);
  if (ring == NULL) {
    printf("not opened: %s\n", strerror(errno));
    return;
  }
  called(fd, rounds);
  static _Alignas(8) char record[65536];
  next_record(ring, record);
  const struct branches* const s = (const struct branches*)record;
  uint64_t of_loop = 0, calls = 0;
  for (uint64_t i = 0; i < s->n; i++) {
    const struct perf_branch_entry* const e = &s->entry[i];
    if (e->from == (uint64_t)loop_branch && e->to == (uint64_t)loop_start && e->type == PERF_BR_COND) of_loop++;
    if (e->to == (uint64_t)run_loop && e->type == PERF_BR_CALL) calls++;
  }
  printf("%lu rounds: %lu branches, %lu of the loop, %lu calls of it\n", rounds, s->n, of_loop, calls);
  close(fd);
}

static void record_branches(void) {
  record_branches_of(1000, PERF_SAMPLE_BRANCH_ANY);
  record_branches_of(10, PERF_SAMPLE_BRANCH_ANY);
  record_branches_of(10, PERF_SAMPLE_BRANCH_COND);
  record_branches_of(10, PERF_SAMPLE_BRANCH_ANY_CALL);
  record_branches_of(10, PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_CALL_STACK);
}

// --- refusals ---

static const char* error_of(struct perf_event_attr attr) {
  const int fd = open_event(&attr, 0, -1, -1);
  return fd < 0 ? strerror(errno) : "opened";
}

static void refuse(void) {
  struct perf_event_attr attr = sampling(PERF_COUNT_HW_INSTRUCTIONS, 1000, PERF_SAMPLE_IP);
  printf("as it is: %s\n", error_of(attr));
  attr.write_backward = 1;
  printf("backward: %s\n", error_of(attr));
  attr.write_backward = 0;
  attr.sample_type = PERF_SAMPLE_CGROUP;
  printf("cgroup: %s\n", error_of(attr));
  attr.sample_type = PERF_SAMPLE_IP;
  attr.sample_period = 0;
  printf("precise without a period: %s\n", error_of(attr));
  attr.precise_ip = 0;
  const int fd = open_event(&attr, 0, -1, -1);
  printf("refresh: %d", ioctl(fd, PERF_EVENT_IOC_REFRESH, 1));
  printf(", %s; ", strerror(errno));
  uint64_t period = 1000;
  printf("period: %d, %s\n", ioctl(fd, PERF_EVENT_IOC_PERIOD, &period), strerror(errno));
}

// A program for profilers.
static void work(void) { run_loop(-1, 1000000); }

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "addresses") == 0) record_addresses();
  if (strcmp(what, "signals") == 0) signal_overflows();
  if (strcmp(what, "loop") == 0) count_by_overflows();
  if (strcmp(what, "refresh") == 0) refresh();
  if (strcmp(what, "pause") == 0) pause_output();
  if (strcmp(what, "poll") == 0) wait_for_samples();
  if (strcmp(what, "epoll") == 0) wait_by_epoll();
  if (strcmp(what, "threads") == 0) sample_threads();
  if (strcmp(what, "lost") == 0) lose_samples();
  if (strcmp(what, "rings") == 0) keep_rings();
  if (strcmp(what, "page") == 0) write_to_page();
  if (strcmp(what, "later") == 0) open_later();
  if (strcmp(what, "contents") == 0) record_contents();
  if (strcmp(what, "branches") == 0) record_branches();
  if (strcmp(what, "refusals") == 0) refuse();
  if (strcmp(what, "work") == 0) work();
  while (strcmp(what, "spin") == 0) work();
  return 0;
}
