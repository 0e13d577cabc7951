// Conflicts between an engine and a program, each of which once failed. The argument selects one; exit code 0 means
// that everything was as natively.
#include <asm/prctl.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

namespace {

volatile sig_atomic_t handled;
void count(int) { handled = handled + 1; }

/// A signal that a child receives before it has run an instruction of its own.
int killed_at_birth() {
  for (int i = 0; i < 50; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      while (true) pause();
    }
    kill(child, SIGTERM);
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGTERM) return 1;
  }
  return 0;
}

/// A handler's return and a change of the mask, while the next signal arrives.
int masks() {
  signal(SIGUSR1, count);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 2000; ++i) kill(parent, SIGUSR1);
    _exit(0);
  }
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    sigprocmask(SIG_BLOCK, &set, nullptr);
    const int before = handled;
    for (int k = 0; k < 50; ++k) asm volatile("pause");
    if (handled != before) return 1;
    sigprocmask(SIG_UNBLOCK, &set, nullptr);
  }
  sigset_t now;
  sigprocmask(SIG_BLOCK, nullptr, &now);
  const int before = handled;
  raise(SIGUSR1);
  return handled == before + 1 && sigismember(&now, SIGUSR1) == 0 ? 0 : 2;
}

volatile bool go;
void* spin(void*) {
  while (!go) {
  }
  return nullptr;
}

int waited[2];
void* work_later(void*) {
  char byte = 0;
  if (read(waited[0], &byte, 1) != 1) return waited;
  for (int i = 0; i < 30000000; ++i) asm volatile("nop");
  return nullptr;
}

/// Whether a thread of this process sleeps in the kernel.
bool sleeps(pid_t tid) {
  char name[64];
  char text[256] = {};
  snprintf(name, sizeof name, "/proc/self/task/%d/stat", tid);
  const int file = open(name, O_RDONLY);
  const ssize_t size = read(file, text, sizeof text - 1);
  close(file);
  const char* end = strrchr(text, ')');
  return size > 0 && end != nullptr && end[2] == 'S';
}

volatile pid_t worker;
void* work_as_worker(void* argument) {
  worker = static_cast<pid_t>(syscall(SYS_gettid));
  return work_later(argument);
}

/// An execve that fails while another thread waits in the kernel; that thread works afterwards, and its work is
/// counted.
int failed_exec() {
  if (pipe(waited) != 0) return 1;
  pthread_t thread;
  pthread_create(&thread, nullptr, work_as_worker, nullptr);
  while (worker == 0 || !sleeps(worker)) {
  }
  execl("/", "/", nullptr);
  if (write(waited[1], "x", 1) != 1) return 2;
  void* failed = nullptr;
  pthread_join(thread, &failed);
  return failed == nullptr ? 0 : 3;
}

/// One of several threads changes its GS base.
int gs_base() {
  static long cell[2] = {11, 22};
  pthread_t thread;
  pthread_create(&thread, nullptr, spin, nullptr);
  syscall(SYS_arch_prctl, ARCH_SET_GS, cell);
  long value = 0;
  asm volatile("mov %%gs:8, %0" : "=r"(value));
  go = true;
  pthread_join(thread, nullptr);
  return value == 22 ? 0 : 1;
}

/// Code that is moved and then changed.
int moved_code() {
  const unsigned char code[] = {0xb8, 1, 0, 0, 0, 0xc3};  // mov $1, %eax; ret
  auto* at = static_cast<unsigned char*>(
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  memcpy(at, code, sizeof code);
  if (reinterpret_cast<int (*)()>(at)() != 1) return 1;
  at = static_cast<unsigned char*>(mremap(at, 4096, 3 * 4096ul, MREMAP_MAYMOVE));
  at[1] = 2;
  return reinterpret_cast<int (*)()>(at)() == 2 ? 0 : 2;
}

void check_breakpoint(int, siginfo_t*, void* context) {
  const auto* rip =
      reinterpret_cast<const unsigned char*>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
  handled = handled + (rip[-1] == 0xcc ? 1 : 1000);
}

/// Breakpoints at every distance from the ends of cache lines.
int breakpoints() {
  struct sigaction action {};
  action.sa_sigaction = check_breakpoint;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &action, nullptr);
  asm volatile(
      ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19\n\t int3\n\t .rept \\n\n\t nop\n\t .endr\n\t .endr");
  return handled == 20 ? 0 : 1;
}

/// Code that the kernel writes: read(2) into a page that has run.
int read_code() {
  auto* at = static_cast<unsigned char*>(
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  int ends[2];
  if (pipe(ends) != 0) return 1;
  for (unsigned char i = 0; i < 100; ++i) {
    const unsigned char code[] = {0xb8, i, 0, 0, 0, 0xc3};  // mov $i, %eax; ret
    if (write(ends[1], code, sizeof code) != sizeof code || read(ends[0], at, sizeof code) != sizeof code) return 2;
    if (reinterpret_cast<int (*)()>(at)() != i) return 3;
  }
  return 0;
}

/// Whether each entry of a directory of descriptors can be used, and each usable one is an entry; read in blocks so
/// small that one call returns one or two.
bool lists_what_is_open(const char* path, long call, size_t name_at) {
  const int directory = open(path, O_RDONLY | O_DIRECTORY);
  int listed = 0;
  alignas(8) char part[64];
  long size = 0;
  while ((size = syscall(call, directory, part, sizeof part)) > 0) {
    for (long at = 0; at < size;) {
      unsigned short bytes = 0;
      memcpy(&bytes, part + at + 16, sizeof bytes);
      const char* name = part + at + name_at;
      at += bytes;
      if (name[0] == '.') continue;
      struct stat status;
      const int fd = atoi(name);
      if (fcntl(fd, F_GETFD) == -1 || fstat(fd, &status) != 0) return false;
      ++listed;
    }
  }
  int open_here = 0;
  for (int fd = 0; fd < 1 << 17; ++fd) open_here += fcntl(fd, F_GETFD) != -1;
  close(directory);
  return size == 0 && listed == open_here;
}

/// Descriptors as the program finds them.
int descriptors() {
  const char* const paths[] = {"/proc/self/fd", "/proc/self/fdinfo", "/proc/thread-self/fd"};
  for (const char* path : paths) {
    if (!lists_what_is_open(path, SYS_getdents64, 19) || !lists_what_is_open(path, SYS_getdents, 18)) return 1;
  }
  return 0;
}

/// The program's own descriptors above its initial limit, after it gave up rights.
int descriptors_above_limit() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max < 4000 ? limit.rlim_max : 4000;
  setrlimit(RLIMIT_NOFILE, &limit);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  for (int i = 0; i < 1100; ++i) {
    const int fd = open("/dev/zero", O_RDONLY);
    char byte = 1;
    if (fd < 0 || read(fd, &byte, 1) != 1) return 1;
  }
  return 0;
}

/// Strict seccomp: only read, write, exit and sigreturn from here.
int confined() {
  prctl(PR_SET_SECCOMP, 1);
  syscall(SYS_exit, write(1, "in\n", 3) == 3 ? 0 : 1);
  return 2;
}

/// A pointer into a mapping whose file was truncated: EFAULT from a system call, SIGBUS elsewhere.
int truncated() {
  const int file = memfd_create("file", 0);
  if (ftruncate(file, 4096) != 0) return 1;
  auto* set = static_cast<sigset_t*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
  if (ftruncate(file, 0) != 0) return 1;
  return syscall(SYS_rt_sigprocmask, SIG_BLOCK, set, nullptr, 8) == -1 ? 0 : 2;
}

constexpr unsigned long in_register = 0x1234567890;
struct Stack {
  unsigned long low, high;
};
Stack of_main, of_spinner;
pid_t spinner;
volatile bool released;

Stack around(const char& local) {
  const auto at = reinterpret_cast<unsigned long>(&local);
  return {at - 65536, at + 65536};
}

void* spin_with_register(void*) {
  char here = 0;
  of_spinner = around(here);
  __atomic_store_n(&spinner, static_cast<pid_t>(syscall(SYS_gettid)), __ATOMIC_RELEASE);
  register unsigned long value asm("r15") = in_register;
  asm volatile("1: cmpb $0, %0\n je 1b" : : "m"(released), "r"(value));
  return nullptr;
}

/// Reads the registers of a thread that shares this memory; 0 if they are its own.
int read_watched_machine(pid_t tid, const Stack& stack, bool spins) {
  int status = 0;
  user_regs_struct r{};
  if (ptrace(PTRACE_ATTACH, tid, nullptr, nullptr) != 0) return 1;
  if (waitpid(tid, &status, __WALL) != tid || !WIFSTOPPED(status)) return 2;
  if (ptrace(PTRACE_GETREGS, tid, nullptr, &r) != 0) return 3;
  if (r.rsp < stack.low || r.rsp > stack.high) return 4;
  if (spins && r.r15 != in_register) return 5;
  return ptrace(PTRACE_DETACH, tid, nullptr, nullptr) == 0 ? 0 : 6;
}

int inspect_parent(void* parent) {
  for (int i = 0; i < 50; ++i) {
    const int found = read_watched_machine(*static_cast<pid_t*>(parent), of_main, false);
    if (found != 0) return found;
    if (const int other = read_watched_machine(spinner, of_spinner, true)) return 10 + other;
  }
  return 0;
}

/// A child that shares the memory inspects the threads of its parent, as leak checkers do.
int traces_own_threads() {
  char here = 0;
  of_main = around(here);
  pthread_t thread;
  pthread_create(&thread, nullptr, spin_with_register, nullptr);
  while (__atomic_load_n(&spinner, __ATOMIC_ACQUIRE) == 0) {
  }
  static char stack[65536];
  pid_t self = getpid();
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
  const pid_t child = clone(inspect_parent, stack + sizeof stack, CLONE_VM | CLONE_FS | CLONE_FILES | SIGCHLD, &self);
  int status = 0;
  waitpid(child, &status, 0);
  released = true;
  pthread_join(thread, nullptr);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

/// A program that asks to be traced is seen in its own state: here where it jumps to a page without code.
int asks_to_be_traced() {
  void* const page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const pid_t child = fork();
  if (child == 0) {
    ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    reinterpret_cast<void (*)()>(page)();
  }
  int status = 0;
  user_regs_struct r{};
  if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status) || WSTOPSIG(status) != SIGSEGV) return 1;
  if (ptrace(PTRACE_GETREGS, child, nullptr, &r) != 0) return 2;
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  return r.rip == reinterpret_cast<unsigned long>(page) ? 0 : 3;
}

long resident_kilobytes() {
  char line[128] = {};
  FILE* const f = fopen("/proc/self/status", "r");
  long n = 0;
  while (fgets(line, sizeof line, f) != nullptr) {
    if (sscanf(line, "VmRSS: %ld", &n) == 1) break;
  }
  fclose(f);
  return n;
}

/// Calls in a ring of functions whose addresses are alike in their low 16 bits, and the same system call again and
/// again: neither uses more memory the longer it runs. The engine's tables grow into huge pages, and the kernel may
/// turn several of their small pages into huge ones at any time: 2 MB each. Less than 50 bytes for each round pass.
int stays_small() {
  constexpr int functions = 14, rounds = 600000;
  constexpr long apart = 65536, allowed_kilobytes = 30000;
  char* const code = static_cast<char*>(
      mmap(nullptr, functions * apart, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (code == MAP_FAILED) return 1;
  for (int i = 0; i < functions; ++i) memcpy(code + i * apart, "\x8d\x47\x01\xc3", 4);  // lea 1(%rdi), %eax; ret
  int n = 0;
  for (int i = 0; i < 300; ++i) n = reinterpret_cast<int (*)(int)>(code + i % functions * apart)(n);
  const long before = resident_kilobytes();
  for (int i = 0; i < rounds; ++i) {
    n = reinterpret_cast<int (*)(int)>(code + i % functions * apart)(n);
    syscall(SYS_getppid);
  }
  if (n != rounds + 300) return 2;
  return resident_kilobytes() - before < allowed_kilobytes ? 0 : 3;
}

/// All possible address space is used up; then very much code runs for the first time.
int without_space() {
  constexpr int functions = 6000;
  constexpr long apart = 4096;
  char* const code =
      static_cast<char*>(mmap(nullptr, functions * apart, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (code == MAP_FAILED) return 1;
  for (int i = 0; i < functions; ++i) memcpy(code + i * apart, "\x8d\x47\x01\xc3", 4);  // lea 1(%rdi), %eax; ret
  mprotect(code, functions * apart, PROT_READ | PROT_EXEC);
  const rlimit most = {3ul << 30, 3ul << 30};
  setrlimit(RLIMIT_AS, &most);
  for (long size = 1l << 31; size >= apart; size /= 2) {
    while (mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED) {
    }
  }
  int n = 0;
  for (int i = 0; i < functions; ++i) n = reinterpret_cast<int (*)(int)>(code + i * apart)(n);
  return n == functions ? 0 : 2;
}

bool asked_enough;

void* ask_for_limit(void*) {
  rlimit limit{};
  while (!__atomic_load_n(&asked_enough, __ATOMIC_ACQUIRE)) getrlimit(RLIMIT_AS, &limit);
  return nullptr;
}

/// Children ask for a limit, forked while other threads did.
int forks_while_asking() {
  pthread_t threads[3];
  for (pthread_t& thread : threads) pthread_create(&thread, nullptr, ask_for_limit, nullptr);
  int wrong = 0;
  for (int i = 0; i < 100; ++i) {
    const pid_t child = fork();
    rlimit limit{};
    if (child == 0) _exit(getrlimit(RLIMIT_AS, &limit) == 0 ? 0 : 1);
    int status = 0;
    waitpid(child, &status, 0);
    wrong += status != 0;
  }
  __atomic_store_n(&asked_enough, true, __ATOMIC_RELEASE);
  for (const pthread_t thread : threads) pthread_join(thread, nullptr);
  return wrong;
}

/// All of the program's memory is locked, including the engine's memory in the process.
int locked() {
  mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT);  // it may fail if there is a limit
  int n = 0;
  for (int i = 0; i < 100; ++i) {
    char text[64];
    n += snprintf(text, sizeof text, "%d %g %s", i, i / 4., "text");
  }
  return n == 1150 ? 0 : 1;
}

int mapping_threads[3];
bool mapped_enough;

void* map_and_unmap(void* mine) {
  __atomic_store_n(static_cast<int*>(mine), static_cast<int>(syscall(SYS_gettid)), __ATOMIC_RELEASE);
  while (!__atomic_load_n(&mapped_enough, __ATOMIC_ACQUIRE)) {
    munmap(mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 8192);
  }
  return nullptr;
}

/// Runs in the memory of the threads that it stops.
int stop_and_map(void*) {
  for (int round = 0; round < 100; ++round) {
    for (const int thread : mapping_threads) {
      int status = 0;
      if (ptrace(PTRACE_ATTACH, thread, 0, 0) != 0) _exit(1);
      if (waitpid(thread, &status, __WALL) != thread) _exit(2);
    }
    munmap(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096);
    for (const int thread : mapping_threads) ptrace(PTRACE_DETACH, thread, 0, 0);
  }
  _exit(0);
}

/// Threads are stopped in the middle of changing mappings; then the process that stopped them maps something itself.
int stops_mapping_threads() {
  pthread_t threads[3];
  for (int i = 0; i < 3; ++i) {
    pthread_create(&threads[i], nullptr, map_and_unmap, &mapping_threads[i]);
    while (__atomic_load_n(&mapping_threads[i], __ATOMIC_ACQUIRE) == 0) usleep(100);
  }
  static char stack[65536];
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
  const pid_t child = clone(stop_and_map, stack + sizeof stack, CLONE_VM | CLONE_FS | CLONE_FILES | SIGCHLD, nullptr);
  int status = 0;
  waitpid(child, &status, 0);
  __atomic_store_n(&mapped_enough, true, __ATOMIC_RELEASE);
  for (const pthread_t thread : threads) pthread_join(thread, nullptr);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

/// Branches to an address that is not canonical. The handler ends the process.
int far_branch() {
  const struct sigaction action = [] {
    struct sigaction one = {};
    one.sa_handler = [](int) { _exit(0); };
    return one;
  }();
  sigaction(SIGSEGV, &action, nullptr);
  reinterpret_cast<void (*)()>(1ul << 63)();
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  struct {
    const char* name;
    int (*run)();
  } const edges[] = {{"killed_at_birth", killed_at_birth},
                     {"traces_own_threads", traces_own_threads},
                     {"asks_to_be_traced", asks_to_be_traced},
                     {"masks", masks},
                     {"descriptors", descriptors},
                     {"failed_exec", failed_exec},
                     {"gs_base", gs_base},
                     {"moved_code", moved_code},
                     {"breakpoints", breakpoints},
                     {"confined", confined},
                     {"descriptors_above_limit", descriptors_above_limit},
                     {"truncated", truncated},
                     {"read_code", read_code},
                     {"stays_small", stays_small},
                     {"without_space", without_space},
                     {"forks_while_asking", forks_while_asking},
                     {"locked", locked},
                     {"far_branch", far_branch},
                     {"stops_mapping_threads", stops_mapping_threads}};
  for (const auto& edge : edges) {
    if (argc > 1 && strcmp(argv[1], edge.name) == 0) return edge.run();
  }
  return 99;
}
