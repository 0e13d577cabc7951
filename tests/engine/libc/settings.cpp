// Sets one limit or one property of the process, and prints what the program then sees: the results of the calls, the
// value in this process, after a fork and after an execve, and the effect. The first argument selects the setting.
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

constexpr size_t page = 4096, megabyte = 1 << 20;

/// Prints the result of a call, and its error.
long show(const char* what, long r) {
  printf("%s %ld%s%s\n", what, r, r == -1 ? " " : "", r == -1 ? strerrorname_np(errno) : "");
  fflush(stdout);
  return r;
}

/// Runs f in a child, and prints how that ended.
template <class F>
void in_child(const char* what, F f) {
  fflush(stdout);
  const pid_t child = fork();
  if (child < 0) {
    show(what, child);
    return;
  }
  if (child == 0) {
    f();
    fflush(stdout);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  printf("%s: %s %d%s\n", what, WIFSIGNALED(status) ? "signal" : "code",
         WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), WCOREDUMP(status) ? ", core" : "");
}

void become_nobody() {
  if (geteuid() == 0 && (setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0)) exit(93);
}

// --- limits ----------------------------------------------------------------------------------------------------------

/// Counts how often f succeeds, and prints the error that ends it.
template <class F>
void count(const char* what, int most, F f) {
  int n = 0;
  errno = 0;
  while (n < most && f(n)) n++;
  printf("%s: %d%s%s\n", what, n, n < most ? " " : "", n < most ? strerrorname_np(errno) : "");
  fflush(stdout);
}

/// Moves the break as far as possible.
int move_break() {
  count("break", 1 << 20, [](int) { return sbrk(megabyte) != reinterpret_cast<void*>(-1); });
  return 0;
}

void* wait_forever(void*) {
  for (;;) pause();
}
void* do_nothing(void*) { return nullptr; }

void* map(size_t bytes, int protection) {
  return mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

void use_memory() {
  in_child("reserved", [] { count("reserved", 4096, [](int) { return map(megabyte, PROT_NONE) != MAP_FAILED; }); });
  in_child("writable", [] {
    count("megabytes", 4096, [](int) { return map(megabyte, PROT_READ | PROT_WRITE) != MAP_FAILED; });
    count("pages", 4096, [](int) { return map(page, PROT_READ | PROT_WRITE) != MAP_FAILED; });
    count("malloc", 64, [](int) { return malloc(megabyte) != nullptr; });
  });
  in_child("break", [] { move_break(); });
  in_child("mprotect", [] {
    auto* at = static_cast<char*>(map(400 * megabyte, PROT_NONE));
    count("made writable", 400, [at](int i) {
      return mprotect(at + static_cast<size_t>(i) * megabyte, megabyte, PROT_READ | PROT_WRITE) == 0;
    });
  });
  in_child("mremap", [] {
    size_t bytes = megabyte;
    void* at = map(bytes, PROT_READ | PROT_WRITE);
    count("moved", 4096, [&](int) {
      at = mremap(at, bytes, bytes + megabyte, MREMAP_MAYMOVE);
      bytes += megabyte;
      return at != MAP_FAILED;
    });
  });
  in_child("clone", [] {
    count("threads", 400, [](int) {
      pthread_t thread;
      return (errno = pthread_create(&thread, nullptr, wait_forever, nullptr)) == 0;
    });
  });
}

void use_files() {
  in_child("files", [] {
    count("opened", 4096, [](int) { return open("/dev/null", O_RDONLY) >= 0; });
    show("dup2 to the limit", dup2(0, 40));
    show("dup2 below the limit", dup2(0, 39));
    show("F_DUPFD", fcntl(0, F_DUPFD, 40));
    pollfd files[64] = {};
    for (pollfd& one : files) one.fd = -1;
    show("poll", poll(files, 64, 0));
  });
}

void use_file_size() {
  char name[] = "/tmp/settings-XXXXXX";
  const int fd = mkstemp(name);
  unlink(name);
  static char bytes[3 * page];
  signal(SIGXFSZ, [](int) { puts("SIGXFSZ"); });
  show("write", write(fd, bytes, sizeof bytes));
  show("write", write(fd, bytes, sizeof bytes));
  show("ftruncate", ftruncate(fd, 4 * page));
  show("pwrite", pwrite(fd, bytes, 1, page));
  const int memory = memfd_create("settings", 0);
  show("memfd", ftruncate(memory, 4 * page));
  in_child("default", [fd] {
    signal(SIGXFSZ, SIG_DFL);
    show("write", write(fd, bytes, sizeof bytes));
  });
}

volatile long depth;
/// Uses a kilobyte of stack for each level.
__attribute__((noinline)) int go_down(int level) {
  volatile char room[1000];
  room[level % 1000] = 1;
  depth = level;
  return level < 0 ? 0 : go_down(level + 1) + room[0];
}
void use_stack() {
  static char alternate[65536];
  const stack_t stack{alternate, 0, sizeof alternate};
  sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_flags = SA_ONSTACK;
  action.sa_handler = [](int) {
    printf("%ld KB\n", depth / 16 * 16);
    fflush(stdout);
    _exit(7);
  };
  sigaction(SIGSEGV, &action, nullptr);
  pthread_attr_t attributes;
  size_t bytes = 0;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstacksize(&attributes, &bytes);
  printf("stack of %zu KB\n", bytes / 1024);
  pthread_t thread;
  pthread_create(
      &thread, nullptr,
      [](void*) -> void* {
        pthread_attr_t own;
        size_t size = 0;
        pthread_getattr_np(pthread_self(), &own);
        pthread_attr_getstacksize(&own, &size);
        printf("thread's of %zu KB\n", size / 1024);
        return nullptr;
      },
      nullptr);
  pthread_join(thread, nullptr);
  in_child("recursion", [] { go_down(0); });
}

void use_core() { in_child("abort", abort); }

void use_processor() {
  signal(SIGXCPU, [](int) {
    puts("SIGXCPU");
    fflush(stdout);
    _exit(6);
  });
  for (;;) depth = depth + 1;
}

void use_locks() {
  const int fd = memfd_create("settings", 0);
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_len = 1;
  show("F_SETLK", fcntl(fd, F_SETLK, &lock));
}

void use_locked_memory() {
  become_nobody();
  auto* at = static_cast<char*>(map(64 * page, PROT_READ | PROT_WRITE));
  show("mlock", mlock(at, 16 * page));
  show("mlock", mlock(at + 16 * page, page));
  show("mlock2", syscall(SYS_mlock2, at + 16 * page, page, 1 /* MLOCK_ONFAULT */));
  show("MAP_LOCKED", mmap(nullptr, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_LOCKED, -1, 0) != MAP_FAILED);
  show("munlock", munlock(at, 16 * page));
  show("mlock", mlock(at, 8 * page));
  show("munlockall", munlockall());
  in_child("all", [] { show("mlockall", mlockall(MCL_CURRENT)); });
  in_child("later", [] {
    show("mlockall", mlockall(MCL_FUTURE));
    show("mmap", map(8 * page, PROT_READ | PROT_WRITE) != MAP_FAILED);
    show("mmap", map(64 * page, PROT_READ | PROT_WRITE) != MAP_FAILED);
    show("break", sbrk(64 * page) != reinterpret_cast<void*>(-1));
    pthread_t thread;
    show("thread", pthread_create(&thread, nullptr, do_nothing, nullptr));
  });
}

void use_queues() {
  become_nobody();
  mq_attr attributes{};
  attributes.mq_maxmsg = 8;
  attributes.mq_msgsize = 1024;
  const mqd_t queue = mq_open("/tally-settings", O_CREAT | O_RDWR, 0600, &attributes);
  show("mq_open", queue < 0 ? -1 : 0);
  mq_unlink("/tally-settings");
}

void use_nice() {
  become_nobody();
  show("nice 10", setpriority(PRIO_PROCESS, 0, 10));
  show("nice 2", setpriority(PRIO_PROCESS, 0, 2));
  show("nice -5", setpriority(PRIO_PROCESS, 0, -5));
}

void use_processes() {
  become_nobody();
  in_child("child", [] {});
  pthread_t thread;
  show("thread", pthread_create(&thread, nullptr, do_nothing, nullptr));
  show("vfork", system("true") == -1 ? -1 : 0);
}

void use_real_time() {
  become_nobody();
  sched_param three{}, five{};
  three.sched_priority = 3;
  five.sched_priority = 5;
  show("priority 5", sched_setscheduler(0, SCHED_FIFO, &five));
  show("priority 3", sched_setscheduler(0, SCHED_FIFO, &three));
}

void use_real_time_long() {
  sched_param one{};
  one.sched_priority = 1;
  signal(SIGXCPU, [](int) {
    puts("SIGXCPU");
    fflush(stdout);
    _exit(6);
  });
  if (show("real time", sched_setscheduler(0, SCHED_RR, &one)) == 0)
    for (;;) depth = depth + 1;
}

void use_pending_signals() {
  become_nobody();
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, nullptr);
  count("queued", 100, [](int i) { return sigqueue(getpid(), SIGRTMIN, sigval{i}) == 0; });
  count("traps", 100, [](int i) { return sigqueue(getpid(), SIGTRAP, sigval{i}) == 0; });
  show("kill", kill(getpid(), SIGUSR1));
  timer_t timer;
  show("timer_create", timer_create(CLOCK_MONOTONIC, nullptr, &timer));
}

struct Limit {
  const char* name;
  int number;
  rlim_t soft, hard;
  void (*use)();
};
constexpr Limit limits[] = {
    {"as", RLIMIT_AS, 512 * megabyte, 1024 * megabyte, use_memory},
    {"core", RLIMIT_CORE, 0, 0, use_core},
    {"cpu", RLIMIT_CPU, 1, 2, use_processor},
    {"data", RLIMIT_DATA, 64 * megabyte, 128 * megabyte, use_memory},
    {"fsize", RLIMIT_FSIZE, 2 * page, 2 * page, use_file_size},
    {"locks", RLIMIT_LOCKS, 0, 0, use_locks},
    {"memlock", RLIMIT_MEMLOCK, 16 * page, 16 * page, use_locked_memory},
    {"msgqueue", RLIMIT_MSGQUEUE, 4096, 4096, use_queues},
    {"nice", RLIMIT_NICE, 15, 18, use_nice},
    {"nofile", RLIMIT_NOFILE, 40, 50, use_files},
    {"nproc", RLIMIT_NPROC, 0, 0, use_processes},
    {"rss", RLIMIT_RSS, page, page, use_core},
    {"rtprio", RLIMIT_RTPRIO, 3, 4, use_real_time},
    {"rttime", RLIMIT_RTTIME, 50'000, 100'000, use_real_time_long},
    {"sigpending", RLIMIT_SIGPENDING, 10, 10, use_pending_signals},
    {"stack", RLIMIT_STACK, 512 << 10, 1 << 20, use_stack},
};

void show_limit(const Limit& l, const char* where) {
  rlimit limit{};
  const long r = getrlimit(static_cast<__rlimit_resource>(l.number), &limit);
  printf("%s: %ld %llu %llu\n", where, r, static_cast<unsigned long long>(limit.rlim_cur),
         static_cast<unsigned long long>(limit.rlim_max));
  fflush(stdout);
}

void show_to_others(const Limit& l, const char* where) {
  show_limit(l, where);
  in_child("fork", [&l] { show_limit(l, "forked"); });
}

/// The first time the program sets the limit and executes itself; then it uses what is limited.
int try_limit(const Limit& l, bool executed, char** arguments) {
  const auto number = static_cast<__rlimit_resource>(l.number);
  if (!executed) {
    rlimit limit{l.soft, l.hard};
    show("set", setrlimit(number, &limit));
    show_to_others(l, "set");
    limit.rlim_cur = l.hard;
    show("raised to the hard limit", prlimit(0, number, &limit, nullptr));
    show_limit(l, "raised");
    limit = {l.soft, l.hard};
    show("back", setrlimit(number, &limit));
    limit = {2, 1};
    show("soft above hard", setrlimit(number, &limit));
    l.use();
    char again[] = "executed";
    char* const words[] = {arguments[0], arguments[1], again, nullptr};
    execv("/proc/self/exe", words);
    return 90;
  }
  show_to_others(l, "executed");
  l.use();
  return 0;
}

// --- properties ------------------------------------------------------------------------------------------------------

struct Property {
  const char* name;
  int set;
  unsigned long value, more[3];
  int get;  // 0: none
  bool by_pointer;
  unsigned long get_argument;
};
constexpr Property properties[] = {
    {"pdeathsig", PR_SET_PDEATHSIG, SIGUSR1, {}, PR_GET_PDEATHSIG, true, 0},
    {"dumpable", PR_SET_DUMPABLE, 0, {}, PR_GET_DUMPABLE, false, 0},
    {"keepcaps", PR_SET_KEEPCAPS, 1, {}, PR_GET_KEEPCAPS, false, 0},
    {"timing", PR_SET_TIMING, 0, {}, PR_GET_TIMING, false, 0},
    {"capbset", PR_CAPBSET_DROP, 10, {}, PR_CAPBSET_READ, false, 10},
    {"securebits", PR_SET_SECUREBITS, 1, {}, PR_GET_SECUREBITS, false, 0},
    {"timerslack", PR_SET_TIMERSLACK, 12345, {}, PR_GET_TIMERSLACK, false, 0},
    {"perf_events", PR_TASK_PERF_EVENTS_DISABLE, 0, {}, 0, false, 0},
    {"mce_kill", PR_MCE_KILL, 1, {1}, PR_MCE_KILL_GET, false, 0},
    {"ptracer", 0x59616d61, 1, {}, 0, false, 0},
    {"subreaper", PR_SET_CHILD_SUBREAPER, 1, {}, PR_GET_CHILD_SUBREAPER, true, 0},
    {"no_new_privs", PR_SET_NO_NEW_PRIVS, 1, {}, PR_GET_NO_NEW_PRIVS, false, 0},
    {"thp", PR_SET_THP_DISABLE, 1, {}, PR_GET_THP_DISABLE, false, 0},
    {"speculation", PR_SET_SPECULATION_CTRL, 0, {4}, PR_GET_SPECULATION_CTRL, false, 0},
    {"io_flusher", 57, 1, {}, 58, false, 0},
    {"mdwe", 65, 1, {}, 66, false, 0},
    {"memory_merge", 67, 1, {}, 68, false, 0},
    {"name", PR_SET_NAME, reinterpret_cast<unsigned long>("other"), {}, PR_GET_NAME, true, 0},
    {"tsc", PR_SET_TSC, PR_TSC_SIGSEGV, {}, PR_GET_TSC, true, 0},
    {"seccomp", PR_SET_SECCOMP, 3, {}, PR_GET_SECCOMP, false, 0},
    {"unknown", 12345, 1, {}, 0, false, 0},
};

void show_property(const Property& p, const char* where) {
  if (p.get == 0) return;
  unsigned long value[2] = {};
  const unsigned long argument = p.by_pointer ? reinterpret_cast<unsigned long>(value) : p.get_argument;
  const long r = prctl(p.get, argument, 0, 0, 0);
  printf("%s: %lx, ", where, value[0]);
  show("got", r);
}

int try_property(const Property& p, bool executed, char** arguments) {
  if (!executed) {
    show_property(p, "before");
    show("set", prctl(p.set, p.value, p.more[0], p.more[1], p.more[2]));
  }
  show_property(p, "here");
  in_child("fork", [&p] {
    show_property(p, "forked");
    show("open", open("/proc/self/mem", O_RDONLY) >= 0);
  });
  void* (*f)(void*) = [](void* property) -> void* {
    show_property(*static_cast<const Property*>(property), "thread");
    return nullptr;
  };
  pthread_t thread;
  pthread_create(&thread, nullptr, f, const_cast<Property*>(&p));
  pthread_join(thread, nullptr);
  show("writable code", map(page, PROT_READ | PROT_WRITE | PROT_EXEC) != MAP_FAILED);
  show("code", map(page, PROT_READ | PROT_EXEC) != MAP_FAILED);
  show("system", system("true"));
  if (executed) return 0;
  char again[] = "executed";
  char* const words[] = {arguments[0], arguments[1], again, nullptr};
  execv("/proc/self/exe", words);
  return 90;
}

/// Only read, write, exit and rt_sigreturn are allowed.
int strict_mode() {
  in_child("allowed", [] {
    if (prctl(PR_SET_SECCOMP, 1, 0, 0, 0) != 0) _exit(1);
    const ssize_t r = write(1, "written\n", 8);
    syscall(SYS_exit, r == 8 ? 3 : 4);
  });
  in_child("forbidden", [] {
    if (prctl(PR_SET_SECCOMP, 1, 0, 0, 0) != 0) _exit(1);
    syscall(SYS_getpid);
  });
  return 0;
}

/// Threads that map memory up to the limit, while they also write and run code.
void* map_at_limit(void* failures) {
  constexpr unsigned char return_7[] = {0xb8, 7, 0, 0, 0, 0xc3};
  unsigned random = 1;
  for (int i = 0; i < 2000; i++) {
    random = random * 1103515245 + 12345;
    const size_t bytes = (1 + (random >> 16) % 64) * megabyte;
    void* at = map(bytes, PROT_READ | PROT_WRITE);
    if (at == MAP_FAILED) continue;
    void* code = map(page, PROT_READ | PROT_WRITE | PROT_EXEC);
    if (code != MAP_FAILED) {
      memcpy(code, return_7, sizeof return_7);
      if (reinterpret_cast<int (*)()>(code)() != 7)
        __atomic_add_fetch(static_cast<int*>(failures), 1, __ATOMIC_RELAXED);
      munmap(code, page);
    }
    munmap(at, bytes);
  }
  return nullptr;
}

int threads_at_limit() {
  constexpr int n = 4;
  pthread_t threads[n];
  int failures = 0;
  const rlimit space{200 * megabyte, 400 * megabyte}, data{100 * megabyte, 200 * megabyte};
  for (pthread_t& thread : threads) pthread_create(&thread, nullptr, map_at_limit, &failures);
  setrlimit(RLIMIT_AS, &space);
  setrlimit(RLIMIT_DATA, &data);
  for (const pthread_t thread : threads) pthread_join(thread, nullptr);
  return show("failures", failures) == 0 ? 0 : 1;
}

int death_signal() {
  in_child("parent", [] {
    if (fork() != 0) {
      usleep(50'000);
      _exit(5);
    }
    signal(SIGUSR1, [](int) {
      const ssize_t r = write(1, "the parent ended\n", 17);
      _exit(r == 17 ? 0 : 1);
    });
    prctl(PR_SET_PDEATHSIG, SIGUSR1, 0, 0, 0);
    for (;;) pause();
  });
  usleep(100'000);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 99;
  const bool executed = argc > 2;
  for (const Limit& one : limits)
    if (strcmp(argv[1], one.name) == 0) return try_limit(one, executed, argv);
  for (const Property& one : properties)
    if (strcmp(argv[1], one.name) == 0) return try_property(one, executed, argv);
  if (strcmp(argv[1], "break") == 0) return move_break();
  if (strcmp(argv[1], "threads_at_limit") == 0) return threads_at_limit();
  if (strcmp(argv[1], "strict_mode") == 0) return strict_mode();
  if (strcmp(argv[1], "death_signal") == 0) return death_signal();
  return 99;
}
