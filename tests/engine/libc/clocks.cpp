// Reads the time in every way, and waits for it: for tests of a clock that counts instructions. One word says what.
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/timex.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <initializer_list>
#include <string>

namespace {

constexpr int64_t second = 1000000000, ms = 1000000;

int64_t ns_of(const timespec& time) { return time.tv_sec * second + time.tv_nsec; }
timespec time_from(int64_t ns) { return {ns / second, ns % second}; }

int64_t now(clockid_t clock = CLOCK_MONOTONIC) {
  timespec time;
  clock_gettime(clock, &time);
  return ns_of(time);
}

int64_t ticks(bool ordered) {
  uint32_t low, high, processor = 0;
  if (ordered)
    asm volatile("rdtscp" : "=a"(low), "=d"(high), "=c"(processor));
  else
    asm volatile("rdtsc" : "=a"(low), "=d"(high));
  return static_cast<int64_t>(uint64_t{high} << 32 | low);
}

/// Prints every clock. Times in ns since the start of the run would be equal except for the offsets of the clocks.
void read_all() {
  for (const clockid_t clock : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11}) {
    const intmax_t by_vdso = now(clock);
    timespec by_call;
    syscall(SYS_clock_gettime, clock, &by_call);
    printf("clock %d: %jd %jd\n", clock, by_vdso, static_cast<intmax_t>(ns_of(by_call)));
  }
  clockid_t process, thread;
  clock_getcpuclockid(getpid(), &process);
  pthread_getcpuclockid(pthread_self(), &thread);
  printf("own clocks: %jd %jd\n", static_cast<intmax_t>(now(process)), static_cast<intmax_t>(now(thread)));
  timeval day, by_call;
  gettimeofday(&day, nullptr);
  syscall(SYS_gettimeofday, &by_call, nullptr);
  printf("day: %jd.%06jd %jd.%06jd\n", static_cast<intmax_t>(day.tv_sec), static_cast<intmax_t>(day.tv_usec),
         static_cast<intmax_t>(by_call.tv_sec), static_cast<intmax_t>(by_call.tv_usec));
  printf("seconds: %jd %jd\n", static_cast<intmax_t>(time(nullptr)), static_cast<intmax_t>(syscall(SYS_time, nullptr)));
  const intmax_t earlier = ticks(false), later = ticks(true);
  printf("ticks: %jd %jd\n", earlier, later);
  tms used;
  const clock_t hundredths = times(&used);
  printf("times: %jd %jd %jd\n", static_cast<intmax_t>(hundredths), static_cast<intmax_t>(used.tms_utime),
         static_cast<intmax_t>(used.tms_stime));
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  printf("usage: %jd.%06jd %jd clock %jd\n", static_cast<intmax_t>(usage.ru_utime.tv_sec),
         static_cast<intmax_t>(usage.ru_utime.tv_usec), static_cast<intmax_t>(usage.ru_stime.tv_usec),
         static_cast<intmax_t>(clock()));
}

/// Prints the time that a wait took, in ms, and its result.
template <class Wait>
void timed(const char* name, Wait&& wait) {
  const int64_t before = now(), date_before = now(CLOCK_REALTIME);
  const long result = wait();
  printf("%s: %jd %jd result %ld\n", name, static_cast<intmax_t>((now() - before) / ms),
         static_cast<intmax_t>((now(CLOCK_REALTIME) - date_before) / ms), result);
}

void handle(int) {}

void wait_in_all_ways() {
  timespec limit = time_from(20 * ms);
  timed("nanosleep", [&] { return nanosleep(&limit, nullptr); });
  timed("clock_nanosleep", [&] { return clock_nanosleep(CLOCK_MONOTONIC, 0, &limit, nullptr); });
  for (const clockid_t clock : {CLOCK_MONOTONIC, CLOCK_REALTIME})
    timed("clock_nanosleep until", [&] {
      const timespec deadline = time_from(now(clock) + 20 * ms);
      return clock_nanosleep(clock, TIMER_ABSTIME, &deadline, nullptr);
    });
  timed("poll", [] { return poll(nullptr, 0, 20); });
  timed("ppoll", [&] { return ppoll(nullptr, 0, &limit, nullptr); });
  timed("select", [] {
    timeval time{0, 20000};
    return select(0, nullptr, nullptr, nullptr, &time);
  });
  timed("pselect", [&] { return pselect(0, nullptr, nullptr, nullptr, &limit, nullptr); });
  const int events = epoll_create1(0);
  epoll_event event;
  timed("epoll", [&] { return epoll_wait(events, &event, 1, 20); });
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  timed("condition", [&] {
    const timespec deadline = time_from(now(CLOCK_REALTIME) + 20 * ms);
    pthread_mutex_lock(&mutex);
    const int result = pthread_cond_timedwait(&condition, &mutex, &deadline);
    pthread_mutex_unlock(&mutex);
    return result;
  });
  sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  timed("semaphore", [&] {
    const timespec deadline = time_from(now(CLOCK_REALTIME) + 20 * ms);
    return sem_timedwait(&semaphore, &deadline);
  });
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  timed("sigtimedwait", [&] { return sigtimedwait(&set, nullptr, &limit); });
  for (const int flags : {0, int{TFD_TIMER_ABSTIME}})
    timed("timer descriptor", [&] {
      const int timer = timerfd_create(CLOCK_MONOTONIC, 0);
      const itimerspec setting{{}, time_from(20 * ms + (flags != 0 ? now() : 0))};
      uint64_t times = 0;
      if (timerfd_settime(timer, flags, &setting, nullptr) != 0 || read(timer, &times, sizeof times) != sizeof times)
        return -1L;
      close(timer);
      return static_cast<long>(times);
    });
  signal(SIGALRM, handle);
  timed("alarm", [] {
    const itimerval setting{{}, {0, 20000}};
    setitimer(ITIMER_REAL, &setting, nullptr);
    return pause();
  });
  timed("timer", [] {
    timer_t timer;
    sigevent how{};
    how.sigev_notify = SIGEV_SIGNAL;
    how.sigev_signo = SIGALRM;
    timer_create(CLOCK_REALTIME, &how, &timer);
    const itimerspec setting{{}, time_from(now(CLOCK_REALTIME) + 20 * ms)};
    timer_settime(timer, TIMER_ABSTIME, &setting, nullptr);
    const int result = pause();
    timer_delete(timer);
    return result;
  });
}

/// Loops that end at a time.
void poll_clocks() {
  for (const int64_t end = now() + 20 * ms; now() < end;) {
  }
  for (const int64_t end = now(CLOCK_PROCESS_CPUTIME_ID) + 20 * ms; now(CLOCK_PROCESS_CPUTIME_ID) < end;) {
  }
  for (const int64_t end = ticks(true) + 20 * ms; ticks(false) < end;) {
  }
  for (const time_t end = time(nullptr) + 2; time(nullptr) < end;) poll(nullptr, 0, 100);
  // As if another process answered too late.
  int ends[2];
  if (pipe(ends) != 0) exit(1);
  pollfd waits{ends[0], POLLIN, 0};
  for (const int64_t end = now() + 100 * ms; now() < end;) poll(&waits, 1, static_cast<int>((end - now()) / ms) + 1);
  puts("all deadlines passed");
}

pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
int64_t latest;

void* read_in_turns(void* failures) {
  for (int i = 0; i < 3000; i++) {
    pthread_mutex_lock(&turn);
    const int64_t time = i % 2 != 0 ? now() : ticks(false);
    if (time < latest) ++*static_cast<long*>(failures);
    latest = time;
    pthread_mutex_unlock(&turn);
  }
  return nullptr;
}

void read_by_threads() {
  pthread_t threads[4];
  long failures[4] = {};
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], nullptr, read_in_turns, &failures[i]);
  long sum = 0;
  for (int i = 0; i < 4; i++) pthread_join(threads[i], nullptr), sum += failures[i];
  printf("earlier than another thread: %ld\n", sum);
  printf("process time: %d thread time: %d\n", now(CLOCK_PROCESS_CPUTIME_ID) > 12 * ms,
         now(CLOCK_THREAD_CPUTIME_ID) < 12 * ms);
}

/// Each process, and each program that it executes, continues at the time of its parent.
void read_by_processes(const char* self, int depth, int64_t before) {
  const int64_t time = now();
  printf("%d: %s %jd\n", depth, time >= before ? "later" : "earlier", static_cast<intmax_t>(time));
  fflush(stdout);
  if (depth == 0) return;
  char deeper[16], later[32];
  snprintf(deeper, sizeof deeper, "%d", depth - 1);
  snprintf(later, sizeof later, "%jd", static_cast<intmax_t>(now()));
  const pid_t child = depth % 2 != 0 ? fork() : vfork();
  if (child == 0) {
    execl(self, self, "processes", deeper, later, nullptr);
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  printf("%d: after the child: %jd\n", depth, static_cast<intmax_t>(now()));
}

/// Prints the content of a file, and which file.
void print_file(const std::string& path) {
  FILE* const file = fopen(path.c_str(), "r");
  char line[4096];
  while (file != nullptr && fgets(line, sizeof line, file) != nullptr) printf("%s: %s", path.c_str(), line);
  if (file != nullptr) fclose(file);
}

/// Prints the fields of /proc/PID/stat that are times: user and system time, those of children, and the start.
void print_own_stat(const std::string& path) {
  FILE* const file = fopen(path.c_str(), "r");
  char line[4096] = {};
  const bool has_line = file != nullptr && fgets(line, sizeof line, file) != nullptr;
  if (file != nullptr) fclose(file);
  const char* rest = has_line ? strrchr(line, ')') : nullptr;
  printf("own stat:");
  for (int field = 2; rest != nullptr; field++, rest = strchr(rest + 1, ' '))
    if ((field >= 14 && field <= 17) || field == 22) printf(" %ld", atol(rest + 1));
  printf("\n");
}

void use_processor(int64_t ns) {
  for (const int64_t end = now(CLOCK_THREAD_CPUTIME_ID) + ns; now(CLOCK_THREAD_CPUTIME_ID) < end;) {
  }
}

void print_usage(const char* name, const rusage& usage) {
  printf("%s: %jd %jd\n", name, static_cast<intmax_t>(usage.ru_utime.tv_sec * 1000000 + usage.ru_utime.tv_usec),
         static_cast<intmax_t>(usage.ru_stime.tv_sec * 1000000 + usage.ru_stime.tv_usec));
}

/// Children use 30, 50 and 20 ms; the last one in a grandchild.
void use_children() {
  rusage usage{};
  pid_t child = fork();
  if (child == 0) use_processor(30 * ms), _exit(0);
  wait4(child, nullptr, 0, &usage);
  print_usage("wait4", usage);
  child = fork();
  if (child == 0) use_processor(50 * ms), _exit(0);
  siginfo_t info;
  waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
  getrusage(RUSAGE_CHILDREN, &usage);
  print_usage("before the wait", usage);
  syscall(SYS_waitid, P_ALL, 0, &info, WEXITED, &usage);
  print_usage("waitid", usage);
  child = fork();
  if (child == 0) {
    const pid_t grandchild = fork();
    if (grandchild == 0) use_processor(20 * ms), _exit(0);
    waitpid(grandchild, nullptr, 0);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  getrusage(RUSAGE_CHILDREN, &usage);
  print_usage("children", usage);
  tms used;
  times(&used);
  printf("times of children: %jd %jd\n", static_cast<intmax_t>(used.tms_cutime),
         static_cast<intmax_t>(used.tms_cstime));
}

void* use_thread(void* until) {
  use_processor(10 * ms);
  pthread_barrier_wait(static_cast<pthread_barrier_t*>(until));
  pthread_barrier_wait(static_cast<pthread_barrier_t*>(until));
  return nullptr;
}

/// The clock of another thread, which waits.
void read_clock_of_thread() {
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, nullptr, 2);
  pthread_t thread;
  pthread_create(&thread, nullptr, use_thread, &barrier);
  pthread_barrier_wait(&barrier);
  clockid_t clock;
  pthread_getcpuclockid(thread, &clock);
  printf("clock of a thread: %jd\n", static_cast<intmax_t>(now(clock) / ms));
  pthread_barrier_wait(&barrier);
  pthread_join(thread, nullptr);
}

/// The rest of timers that are set to 1,000 s, after 5 ms of processor time.
void read_timers() {
  constexpr time_t first = 1000, interval = 7;
  const itimerspec setting{{interval, 0}, {first, 0}};
  itimerspec rest{};
  const auto print = [&](const char* name) {
    printf("%s: %jd %jd\n", name, static_cast<intmax_t>(ns_of(rest.it_value)),
           static_cast<intmax_t>(rest.it_interval.tv_sec));
  };
  const int descriptor = timerfd_create(CLOCK_MONOTONIC, 0);
  timerfd_settime(descriptor, 0, &setting, nullptr);
  timer_t timer;
  sigevent how{};
  how.sigev_notify = SIGEV_NONE;
  timer_create(CLOCK_REALTIME, &how, &timer);
  timer_settime(timer, 0, &setting, nullptr);
  const itimerval by_alarm{{interval, 0}, {first, 0}};
  setitimer(ITIMER_REAL, &by_alarm, nullptr);
  use_processor(5 * ms);
  timerfd_gettime(descriptor, &rest);
  print("timerfd_gettime");
  timer_gettime(timer, &rest);
  print("timer_gettime");
  timer_settime(timer, 0, &setting, &rest);
  print("timer_settime");
  itimerval left{};
  getitimer(ITIMER_REAL, &left);
  printf("getitimer: %jd\n", static_cast<intmax_t>(left.it_value.tv_sec * 1000000 + left.it_value.tv_usec));
  printf("alarm: %u\n", alarm(0));
  const itimerspec none{};
  timerfd_settime(descriptor, 0, &none, nullptr);
  timerfd_gettime(descriptor, &rest);
  print("stopped");
}

/// Prints what programs learn about time in other ways than by clocks.
void read_others() {
  for (const clockid_t clock : {0, 1, 2, 3, 4, 5, 6, 7, 11}) {
    timespec by_vdso{}, by_call{};
    clock_getres(clock, &by_vdso);
    syscall(SYS_clock_getres, clock, &by_call);
    printf("resolution of %d: %jd %jd\n", clock, static_cast<intmax_t>(ns_of(by_vdso)),
           static_cast<intmax_t>(ns_of(by_call)));
  }
  use_children();
  read_clock_of_thread();
  read_timers();
  struct sysinfo info;
  sysinfo(&info);
  printf("sysinfo: %ld\n", info.uptime);
  print_file("/proc/uptime");
  print_file("/proc/stat");
  print_own_stat("/proc/self/stat");
  print_own_stat("/proc/" + std::to_string(getpid()) + "/stat");
}

/// Prints times that are real, in seconds.
void read_real() {
  char name[] = "/tmp/tally-clocks-XXXXXX";
  const int file = mkstemp(name);
  if (write(file, name, 1) != 1) exit(1);
  struct stat times;
  fstat(file, &times);
  printf("written: %jd\n", static_cast<intmax_t>(times.st_mtim.tv_sec));
  futimens(file, nullptr);
  fstat(file, &times);
  printf("touched: %jd\n", static_cast<intmax_t>(times.st_mtim.tv_sec));
  unlink(name);
  timex state{};
  adjtimex(&state);
  printf("adjtimex: %jd\n", static_cast<intmax_t>(state.time.tv_sec));
}

volatile sig_atomic_t handled;
void read_in_handler(int) {
  static int64_t last;
  const int64_t time = now();
  if (time < last) _exit(1);
  last = time;
  handled = handled + 1;
}

/// Signals that interrupt reads of the clock, and waits with deadlines.
void read_with_signals() {
  struct sigaction action {};
  action.sa_handler = read_in_handler;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  const itimerval often{{0, 2000}, {0, 2000}};
  setitimer(ITIMER_REAL, &often, nullptr);
  int64_t last = 0;
  while (handled < 20) {
    const int64_t time = now();
    if (time < last) exit(1);
    last = time;
  }
  sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  const timespec deadline = time_from(now(CLOCK_REALTIME) + 50 * ms);
  while (sem_timedwait(&semaphore, &deadline) != 0 && now(CLOCK_REALTIME) < ns_of(deadline)) {
  }
  timespec rest = time_from(50 * ms);
  while (nanosleep(&rest, &rest) != 0) {
  }
  puts("all deadlines passed");
}

}  // namespace

int main(int count, char** words) {
  const char* const what = count > 1 ? words[1] : "";
  if (strcmp(what, "all") == 0) read_all();
  if (strcmp(what, "others") == 0) read_others();
  if (strcmp(what, "real") == 0) read_real();
  if (strcmp(what, "waits") == 0) wait_in_all_ways();
  if (strcmp(what, "polls") == 0) poll_clocks();
  if (strcmp(what, "threads") == 0) read_by_threads();
  if (strcmp(what, "signals") == 0) read_with_signals();
  if (strcmp(what, "processes") == 0)
    read_by_processes(words[0], count > 2 ? atoi(words[2]) : 3, count > 3 ? strtoll(words[3], nullptr, 10) : 0);
}
