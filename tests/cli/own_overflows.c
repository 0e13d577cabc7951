// Opens counters that overflow in the less usual ways: modelled ones, with a trap, with a ring that grows backward.
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { page = 4096, ring_pages = 64 };

static struct perf_event_attr sampling(uint64_t config, uint64_t period) {
  struct perf_event_attr attr;
  memset(&attr, 0, sizeof attr);
  attr.type = PERF_TYPE_HARDWARE;
  attr.size = sizeof attr;
  attr.config = config;
  attr.sample_period = period;
  attr.sample_type = PERF_SAMPLE_IP;
  attr.disabled = 1;
  attr.exclude_kernel = 1;
  return attr;
}

static int open_event(struct perf_event_attr* attr) {
  return (int)syscall(SYS_perf_event_open, attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static uint64_t value_of(int fd) {
  uint64_t value = 0;
  return read(fd, &value, sizeof value) == sizeof value ? value : 0;
}

__attribute__((noinline)) static void run_loop(uint64_t n) {
  asm volatile("1: dec %0\n jnz 1b" : "+r"(n) : : "cc", "memory");
}

// Chains of multiplications, which take most of the cycles, and as many other instructions.
#define AT_OWN_LINES __attribute__((noinline, aligned(64))) static

AT_OWN_LINES void multiply(uint64_t n) {
  for (; n > 0; n--)
    asm volatile("imul %%rax, %%rax\n imul %%rax, %%rax\n imul %%rax, %%rax\n imul %%rax, %%rax" : : : "rax");
}
AT_OWN_LINES void move(uint64_t n) {
  for (; n > 0; n--) asm volatile("mov %%rcx, %%rax\n mov %%rsi, %%r8\n mov %%rcx, %%r9\n nop" : : : "rax", "r8", "r9");
}

// Samples of cycles are as many as the count contains periods, and where the cycles are.
static void sample_cycles(void) {
  struct perf_event_attr attr = sampling(PERF_COUNT_HW_CPU_CYCLES, 10007);
  attr.sample_type |= PERF_SAMPLE_PERIOD;
  const int fd = open_event(&attr);
  struct perf_event_mmap_page* const ring =
      mmap(NULL, (ring_pages + 1) * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (ring == MAP_FAILED) return (void)printf("cycles: %s\n", strerror(errno));
  ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
  for (int i = 0; i < 10000; i++) {
    multiply(20);
    move(20);
  }
  ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
  uint64_t sampled = 0;
  long samples = 0, products = 0;
  for (uint64_t at = 0; at < ring->data_head;) {
    const char* const record = (const char*)ring + page + at % (ring_pages * page);
    const struct perf_event_header* const header = (const struct perf_event_header*)record;
    const uint64_t ip = *(const uint64_t*)(header + 1);
    sampled += ((const uint64_t*)(header + 1))[1];
    samples += header->type == PERF_RECORD_SAMPLE;
    products += ip >= (uint64_t)multiply && ip < (uint64_t)move;
    at += header->size;
  }
  const uint64_t count = value_of(fd);
  printf("cycles: %s sampled, %s of multiplications\n", sampled <= count && count - sampled < 10007 ? "all" : "not all",
         products > samples * 3 / 5 ? "most" : "few");
  attr.precise_ip = 1;
  printf("precise: %s\n", open_event(&attr) < 0 ? strerror(errno) : "opened");
}

AT_OWN_LINES void divide(uint64_t n) {
  uint64_t rest = 0;
  for (uint64_t by = 7, all = ~0ull; n > 0; n--)
    asm volatile("xor %%edx, %%edx\n div %2" : "+a"(all), "=&d"(rest) : "r"(by) : "cc");
}

// Samples of cycles at a frequency are where the cycles are, from the first one on: of three functions in turn.
static void sample_shares(void) {
  void (*const functions[])(uint64_t) = {multiply, move, divide};
  const uint64_t times[] = {40, 300, 40};
  enum { kinds = 3 };
  uint64_t cycles[kinds], all = 0;
  struct perf_event_attr attr = sampling(PERF_COUNT_HW_CPU_CYCLES, 0);
  const int counter = open_event(&attr);
  for (int k = 0; k < kinds; k++) {
    const uint64_t before = value_of(counter);
    ioctl(counter, PERF_EVENT_IOC_ENABLE, 0);
    for (int i = 0; i < 20000; i++) functions[k](times[k]);
    ioctl(counter, PERF_EVENT_IOC_DISABLE, 0);
    cycles[k] = value_of(counter) - before;
    all += cycles[k];
  }
  attr = sampling(PERF_COUNT_HW_CPU_CYCLES, 4000);
  attr.freq = 1;
  const int fd = open_event(&attr);
  struct perf_event_mmap_page* const ring =
      mmap(NULL, (ring_pages + 1) * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (ring == MAP_FAILED) return (void)printf("shares: %s\n", strerror(errno));
  ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
  for (int i = 0; i < 150000; i++)
    for (int k = 0; k < kinds; k++) functions[k](times[k]);
  ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
  const uint64_t* const ips = (const uint64_t*)((const char*)ring + page);
  const uint64_t samples = ring->data_head / 16;
  printf("shares: %s samples", samples > 200 && samples < 1000 ? "some hundred" : "too few or too many");
  for (int k = 0; k < kinds; k++) {
    uint64_t own = 0;
    for (uint64_t i = 0; i < samples; i++) own += ips[2 * i + 1] - (uint64_t)functions[k] < 64;
    const double share = (double)cycles[k] / (double)all, seen = (double)own / (double)samples;
    const double error2 = share * (1 - share) / (double)samples;
    printf(", %s", (seen - share) * (seen - share) < 16 * error2 ? "right" : "wrong");
  }
  printf("\n");
}

static volatile long traps, wrong;
static void count_trap(int signal, siginfo_t* info, void* context) {
  (void)context;
  __atomic_add_fetch(&traps, 1, __ATOMIC_RELAXED);
  // si_perf_data and si_perf_type follow the address.
  const uint64_t* const of_event = (const uint64_t*)((const char*)info + 24);
  wrong += signal != SIGTRAP || info->si_code != 6 || of_event[0] != 0x1234567890 || (uint32_t)of_event[1] != 0;
}

static void ignore(int signal, siginfo_t* info, void* context) { (void)signal, (void)info, (void)context; }

// A handler that executes more than a period before it returns: the program goes on, because the event pauses.
static void overflow_in_handler(int traps_thread) {
  const uint64_t periods[] = {1, 2, 3, 5};
  int right = 0;
  for (int i = 0; i < 4; i++) {
    struct perf_event_attr attr = sampling(PERF_COUNT_HW_INSTRUCTIONS, periods[i]);
    attr.sigtrap = attr.remove_on_exec = (unsigned)traps_thread;
    const int fd = open_event(&attr);
    struct perf_event_mmap_page* const ring =
        mmap(NULL, (ring_pages + 1) * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    struct sigaction action = {.sa_sigaction = ignore, .sa_flags = SA_SIGINFO};
    sigaction(traps_thread ? SIGTRAP : SIGUSR1, &action, NULL);
    if (!traps_thread) {
      fcntl(fd, F_SETFL, O_ASYNC);
      fcntl(fd, F_SETSIG, SIGUSR1);
      fcntl(fd, F_SETOWN, getpid());
    }
    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
    run_loop(2500000);
    ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
    int throttled = 0, continued = 0;
    for (uint64_t at = 0; at < ring->data_head;) {
      const struct perf_event_header* const header =
          (const struct perf_event_header*)((const char*)ring + page + at % (ring_pages * page));
      throttled += header->type == PERF_RECORD_THROTTLE;
      continued += header->type == PERF_RECORD_UNTHROTTLE;
      at += header->size;
    }
    // It pauses for 1,000,000 instructions each time; the loop has 5,000,000, and handlers are counted, too.
    right += value_of(fd) > 5000000 && throttled >= 4 && throttled <= 6 && throttled - continued <= 1;
    close(fd);
  }
  printf("crowded: %d of 4 periods right\n", right);
}

static volatile long signals, misdirected;
static volatile int signalling;
static void count_signal(int signal, siginfo_t* info, void* context) {
  (void)signal, (void)context;
  signals++;
  misdirected += info->si_code != POLL_IN || info->si_fd != signalling;
}

// `owner`: of the signals, as of F_SETOWN; 0: the thread.
static void* send_signals(void* owner) {
  const pid_t to = *(const pid_t*)owner;
  struct perf_event_attr attr = sampling(PERF_COUNT_HW_INSTRUCTIONS, 1000);
  const int fd = signalling = open_event(&attr);
  const struct perf_event_mmap_page* const ring =
      mmap(NULL, (ring_pages + 1) * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (ring == MAP_FAILED) return NULL;
  fcntl(fd, F_SETFL, O_ASYNC);
  fcntl(fd, F_SETSIG, SIGUSR1);
  fcntl(fd, F_SETOWN, to != 0 ? to : (pid_t)syscall(SYS_gettid));
  ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
  run_loop(250000);
  ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
  printf("%s", ring->data_head / 16 >= 500 ? "all records" : "paused");
  return NULL;
}

// Another thread gets the signals of an event as the kernel sends them, and the event never pauses for that.
static void signal_others(void) {
  struct sigaction action = {.sa_sigaction = count_signal, .sa_flags = SA_SIGINFO};
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigaction(SIGUSR1, &action, NULL);
  const pid_t owners[] = {getpid(), getpid(), 0};
  for (int waits = 0; waits < 3; waits++) {
    pthread_t thread;
    signals = 0;
    pthread_sigmask(waits == 2 ? SIG_UNBLOCK : SIG_BLOCK, &set, NULL);
    pthread_create(&thread, NULL, send_signals, (void*)&owners[waits]);
    siginfo_t info;
    if (waits == 0 && sigwaitinfo(&set, &info) > 0) count_signal(SIGUSR1, &info, NULL);
    pthread_sigmask(waits == 2 ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
    pthread_join(thread, NULL);
    printf(", %s signals, %ld wrong\n", signals > 0 ? "some" : "no", misdirected);
  }
}

// The same from a descriptor.
static void read_signals(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  const int descriptor = signalfd(-1, &set, 0);
  const pid_t own = getpid();
  pthread_t thread;
  pthread_create(&thread, NULL, send_signals, (void*)&own);
  struct signalfd_siginfo info;
  if (read(descriptor, &info, sizeof info) != sizeof info) return;
  pthread_join(thread, NULL);
  printf(": code %d, %s descriptor, band %x, sender %u, value %d\n", info.ssi_code,
         info.ssi_fd == signalling ? "right" : "wrong", info.ssi_band, info.ssi_pid, info.ssi_int);
}

static void* run_thread(void* unused) {
  run_loop(500000);
  return unused;
}

// Each thread gets its own traps; a program that the process executes gets none.
static void trap(char* path) {
  struct perf_event_attr attr = sampling(PERF_COUNT_HW_INSTRUCTIONS, 100003);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = count_trap;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &action, NULL);
  attr.sigtrap = attr.remove_on_exec = attr.inherit = attr.inherit_thread = 1;
  attr.sig_data = 0x1234567890;
  const int fd = open_event(&attr);
  if (fd < 0) return (void)printf("traps: %s\n", strerror(errno));
  ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
  run_loop(500000);
  ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
  printf("traps: %ld", traps);
  ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, run_thread, NULL);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  printf(", with 4 threads %ld, %ld wrong", traps, wrong);
  fflush(stdout);
  const pid_t child = vfork();
  if (child == 0) _exit(0);
  waitpid(child, NULL, 0);
  execl(path, path, "loop", (char*)NULL);
}

// The last records, from the head on: the newest one is first.
static void go_backward(void) {
  struct perf_event_attr attr = sampling(PERF_COUNT_HW_INSTRUCTIONS, 1000);
  attr.write_backward = 1;
  attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME;
  const int fd = open_event(&attr);
  const struct perf_event_mmap_page* const ring = mmap(NULL, 2 * page, PROT_READ, MAP_SHARED, fd, 0);
  if (ring == MAP_FAILED) return (void)printf("backward: %s\n", strerror(errno));
  ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
  run_loop(500000);
  ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1);
  ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
  long records = 0, out_of_order = 0;
  uint64_t later = ~0ul;
  for (uint64_t at = ring->data_head; at - ring->data_head + 24 <= page; records++, at += 24) {
    uint64_t record[3];
    for (int i = 0; i < 3; i++)
      record[i] = *(const uint64_t*)((const char*)ring + page + (at + 8 * (uint64_t)i) % page);
    out_of_order += record[0] >> 48 != 24 || record[2] > later;
    later = record[2];
  }
  printf("backward: %ld bytes written, the last %ld records, %ld out of order\n", -(long)ring->data_head, records,
         out_of_order);
}

// An event counts while its pages are mapped, and ends with them.
static void close_early(void) {
  struct perf_event_attr attr = sampling(PERF_COUNT_HW_INSTRUCTIONS, 1000);
  attr.disabled = 0;
  long samples = 0, failures = 0;
  for (int i = 0; i < 2000; i++) {
    const int fd = open_event(&attr);
    volatile struct perf_event_mmap_page* const ring = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (ring == MAP_FAILED) {
      failures++;
      continue;
    }
    const uint64_t before = ring->data_head;
    run_loop(i == 0 ? 50000 : 500);
    if (i == 0) samples = (long)(ring->data_head - before) / 16;
    if (i != 0) failures += ring->data_head == before;
    if (i == 0 && fork() == 0) _exit(munmap((void*)ring, 2 * page));
    wait(NULL);
    munmap((void*)ring, 2 * page);
  }
  printf("closed: %ld samples, %ld failures\n", samples, failures);
}

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "cycles") == 0) sample_cycles();
  if (strcmp(what, "shares") == 0) sample_shares();
  if (strcmp(what, "crowded") == 0) overflow_in_handler(0);
  if (strcmp(what, "crowded traps") == 0) overflow_in_handler(1);
  if (strcmp(what, "others") == 0) signal_others();
  if (strcmp(what, "descriptor") == 0) read_signals();
  if (strcmp(what, "traps") == 0) trap(argv[0]);
  if (strcmp(what, "backward") == 0) go_backward();
  if (strcmp(what, "closed") == 0) close_early();
  if (strcmp(what, "loop") == 0) {
    run_loop(1000000);
    printf(", then none\n");
  }
  return 0;
}
