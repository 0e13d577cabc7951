// System calls that take control of the program's calls, or might: each case prints the kernel's answer. The first
// argument is the case; exit code 0 if it worked as natively.
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>

#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <initializer_list>
#include <thread>
#include <utility>
#include <vector>

namespace {

constexpr int set_syscall_dispatch = 59;
constexpr long set_gs_base = 0x1001, get_gs_base = 0x1004;
constexpr int everything = PROT_READ | PROT_WRITE | PROT_EXEC;

void say(const char* what, long answer) {
  printf("%s: %ld %s\n", what, answer, answer < 0 ? strerror(errno) : "");
  fflush(stdout);
}

void work() {
  long sum = 0;
  for (long i = 0; i < 100000; ++i) {
    sum += i;
    asm volatile("" : "+r"(sum));
  }
}

sock_fprog program_of(sock_filter* code, unsigned n) {
  sock_fprog program{};
  program.len = static_cast<unsigned short>(n);
  program.filter = code;
  return program;
}

/// getppid fails with EPERM; all other calls are allowed.
sock_filter no_parent[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                           BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
                           BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                           BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};

/// The queries of qemu, systemd and libseccomp at every start: they confine nothing.
int seccomp_probes() {
  unsigned action = SECCOMP_RET_ALLOW, unknown = 0x12340000;
  seccomp_notif_sizes sizes{};
  for (const unsigned flags : {0u, 1u, 2u, 4u, 8u, 16u, 25u})
    say("a filter at NULL", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, nullptr));
  say("by prctl", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, nullptr, 0, 0));
  say("a mode that there is not", prctl(PR_SET_SECCOMP, 77, 0, 0, 0));
  say("an operation that there is not", syscall(SYS_seccomp, 77, 0, nullptr));
  say("an action", syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action));
  say("an unknown action", syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &unknown));
  say("sizes", syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes));
  say("strict with flags", syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 1, nullptr));
  say("strict with a pointer", syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, &action));
  say("the mode", prctl(PR_GET_SECCOMP));
  work();
  return 0;
}

/// Filters that the kernel reads and refuses.
int refused_filters() {
  sock_filter endless[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0)};
  sock_filter odd[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 3), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  sock_fprog bad = program_of(endless, 1), unaligned = program_of(odd, 2), empty = program_of(endless, 0),
             nowhere = program_of(nullptr, 4), good = program_of(no_parent, 4);
  for (const sock_fprog* one : {&bad, &unaligned, &empty, &nowhere}) {
    say("seccomp", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, one));
    say("for all threads", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, one));
    say("prctl", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, one, 0, 0));
  }
  say("flags that exclude each other", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                                               SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_NEW_LISTENER, &good));
  say("unknown flags", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 1 << 20, &good));
  if (geteuid() == 0 && syscall(SYS_setresuid, 65534, 65534, 65534) != 0) return 1;
  say("without rights", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &good));
  say("the mode", prctl(PR_GET_SECCOMP));
  say("a descriptor", open("/dev/null", O_RDONLY));
  work();
  return 0;
}

int filter(bool by_prctl, unsigned flags) {
  sock_fprog program = program_of(no_parent, 4);
  say("no new privileges", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
  say("a filter", by_prctl ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0)
                           : syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program));
  say("the mode", prctl(PR_GET_SECCOMP));
  say("getppid", syscall(SYS_getppid));
  work();
  return 0;
}

int filters() { return filter(false, 0); }
int filters_all_threads() { return filter(false, SECCOMP_FILTER_FLAG_TSYNC); }
int filters_by_prctl() { return filter(true, 0); }

int strict() {
  say("the mode", prctl(PR_GET_SECCOMP));
  say("strict", prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT));
  return static_cast<int>(syscall(SYS_exit, 0));
}

// Calls from outside this section go to the handler, calls from inside it to the kernel.
asm(R"(
.pushsection .let_through, "ax"
let_through_begin:
through:
  mov %rdi, %rax
  mov %rsi, %rdi
  syscall
  ret
return_from_handler:
  mov $15, %eax
  syscall
  ud2  # the kernel checks the address after the call
let_through_end:
.popsection
)");
extern "C" const char let_through_begin[], let_through_end[], return_from_handler[];
extern "C" long through(long number, long argument);

volatile char blocks;
volatile int caught;

void emulate(int, siginfo_t* info, void* context) {
  caught = caught + 1;
  static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RAX] = info->si_syscall == SYS_getpid ? 4242 : -ENOSYS;
}

int set_dispatch(unsigned long mode, const char* begin, size_t bytes, volatile char* selector) {
  return prctl(set_syscall_dispatch, mode, begin, bytes, selector);
}

/// As Wine does to implement system calls of Windows.
int dispatches() {
  struct {
    void (*handler)(int, siginfo_t*, void*);
    unsigned long flags;
    const char* restorer;
    unsigned long mask;
  } action = {emulate, SA_SIGINFO | SA_NODEFER | 0x04000000, return_from_handler, 0};
  if (syscall(SYS_rt_sigaction, SIGSYS, &action, nullptr, 8) != 0) return 1;
  say("dispatch",
      set_dispatch(1, let_through_begin, static_cast<size_t>(let_through_end - let_through_begin), &blocks));
  blocks = 1;
  long emulated;
  asm volatile("syscall" : "=a"(emulated) : "a"(SYS_getpid) : "rcx", "r11", "memory");
  const long real = through(SYS_getpid, 0);
  blocks = 0;
  printf("emulated %ld, %d caught, the other is %s\n", emulated, caught, real == getpid() ? "real" : "wrong");
  work();
  return 0;
}

int refused_dispatch() {
  blocks = 1;  // a child that only tries must not be intercepted
  say("switched off", set_dispatch(0, nullptr, 0, nullptr));
  say("off with a range", set_dispatch(0, let_through_begin, 16, nullptr));
  say("a range of no bytes", set_dispatch(1, let_through_begin, 0, &blocks));
  say("a range past the end", set_dispatch(1, let_through_begin, ~size_t{0}, &blocks));
  say("a mode that there is not", set_dispatch(77, nullptr, 0, &blocks));
  say("a selector in the kernel", set_dispatch(1, nullptr, 0, reinterpret_cast<char*>(~0ul - 4095)));
  work();
  return 0;
}

/// The kernel ignores the upper half of the number.
int numbers() {
  for (const long number : {470L, 1000L, -1L, 0x7fffffffL, 387L, 174L, 0x40000000L + SYS_getpid})
    say("unknown", syscall(number, 0, 0, 0));
  const unsigned long high = 0xdead00000000ul;
  void* at = reinterpret_cast<void*>(
      syscall(static_cast<long>(high | SYS_mmap), 0, 4096, everything, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (at == MAP_FAILED) return 1;
  for (int i = 0; i < 3; ++i) {
    const unsigned char code[] = {0xb8, static_cast<unsigned char>(i), 0, 0, 0, 0xc3};  // mov $i, %eax; ret
    memcpy(at, code, sizeof code);
    if (reinterpret_cast<int (*)()>(at)() != i) return 2;
  }
  return 0;
}

int gs_base() {
  unsigned long base = 1;
  say("GS base 0", syscall(SYS_arch_prctl, set_gs_base, 0));
  say("in the kernel", syscall(SYS_arch_prctl, set_gs_base, ~0ul << 63));
  say("read", syscall(SYS_arch_prctl, get_gs_base, &base));
  printf("%lu\n", base);
  work();
  return 0;
}

[[noreturn]] void no_code(int) { _exit(7); }

int returns_42(int protection) {
  void* at = mmap(nullptr, 4096, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return -1;
  memcpy(at, "\xb8\x2a\0\0\0\xc3", 6);
  return reinterpret_cast<int (*)()>(at)();
}

/// Readable memory becomes executable, and then not executable again.
int reading_executes() {
  const int before = personality(0xffffffff);
  personality(static_cast<unsigned long>(before) | READ_IMPLIES_EXEC);
  printf("with it: %d\n", returns_42(PROT_READ | PROT_WRITE));
  personality(static_cast<unsigned long>(before));
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGSEGV, no_code);
    returns_42(PROT_READ | PROT_WRITE);
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  printf("without: %d\n", WEXITSTATUS(status));
  return 0;
}

/// /proc/self/mem under another name: it writes even to protected memory.
int memory_by_directory() {
  auto* at = static_cast<unsigned char*>(mmap(nullptr, 4096, everything, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  memcpy(at, "\xb8\x00\0\0\0\xc3", 6);
  mprotect(at, 4096, PROT_READ | PROT_EXEC);
  const int directory = open("/proc/self", O_PATH | O_DIRECTORY), memory = openat(directory, "mem", O_RDWR);
  if (memory < 0) return 1;
  for (int i = 0; i < 3; ++i) {
    const unsigned char value = static_cast<unsigned char>(i);
    if (pwrite(memory, &value, 1, reinterpret_cast<off_t>(at + 1)) != 1) return 2;
    if (reinterpret_cast<int (*)()>(at)() != i) return 3;
  }
  return 0;
}

/// Code of a file that is truncated by opening it: SIGBUS, and no more code.
int emptied_file() {
  char name[] = "/tmp/tally-calls-XXXXXX";
  const int file = mkstemp(name);
  if (file < 0 || write(file, "\xb8\x2a\0\0\0\xc3", 6) != 6) return 1;
  void* at = mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
  if (at == MAP_FAILED || reinterpret_cast<int (*)()>(at)() != 42) return 2;
  signal(SIGBUS, no_code);
  open(name, O_WRONLY | O_TRUNC);
  unlink(name);
  return reinterpret_cast<int (*)()>(at)() == 42 ? 3 : 4;
}

int descriptors_of_others() {
  const long self = syscall(SYS_pidfd_open, getpid(), 0);
  if (self < 0) return 77;
  int got = 0;
  for (int i = 1000; i < 70000; ++i) got += syscall(SYS_pidfd_getfd, self, i, 0) >= 0;
  printf("%d\n", got);
  return 0;
}

/// A 32-bit system call.
int old_call(int number, int argument) {
  int answer = number;
  asm volatile("int $0x80" : "+a"(answer) : "b"(argument) : "memory", "r8", "r9", "r10", "r11");
  return answer;
}
[[gnu::noinline]] void old_call_if(bool is_made) {
  if (is_made) old_call(20, 0);
}

int old_calls() {
  for (int i = 0; i < 3; ++i) old_call_if(i == 1);
  say("getpid", old_call(20, 0) == getpid());
  return 0;
}
int old_calls_not_made() {
  for (int i = 0; i < 3; ++i) old_call_if(false);
  return 0;
}
int ends_by_old_call() { return old_call(252, 5); }
int forks_by_old_call() {
  const int child = old_call(2, 0);
  if (child == 0) _exit(3);
  int status = 0;
  say("waited", waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 3);
  return 0;
}

/// The engine's addresses, which are free natively.
int engine_addresses() {
  auto* const there = reinterpret_cast<void*>(0x7e9000000000);
  say("mapped", mmap(there, 4096, everything, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == there);
  *static_cast<volatile int*>(there) = 1;
  return 0;
}

/// Of its records and its image, and all its tables. All are unmapped natively.
const std::vector<std::pair<void*, size_t>> engine_ranges = {{reinterpret_cast<void*>(0x7e9000000000), 4096},
                                                             {reinterpret_cast<void*>(0x7ea000000000), 64 << 10},
                                                             {reinterpret_cast<void*>(0x7ea100000000), 0x30000000}};
int moved_engine() {
  void* const to = reinterpret_cast<void*>(0x500000000000);
  for (const auto& [at, bytes] : engine_ranges)
    say("mremap", reinterpret_cast<long>(mremap(at, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, to)));
  return 0;
}
int moved_to_engine() {
  void* const old = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  void* const at = engine_ranges[0].first;
  say("mremap", mremap(old, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, at) == at);
  return 0;
}
int advised_engine() {
  for (const auto& [at, bytes] : engine_ranges) say("madvise", madvise(at, bytes, MADV_DONTNEED));
  return 0;
}
int advised_list() {
  const long self = syscall(SYS_pidfd_open, getpid(), 0);
  for (const auto& [at, bytes] : engine_ranges) {
    const iovec range{at, bytes};
    say("process_madvise", syscall(SYS_process_madvise, self, &range, 1, MADV_DONTNEED, 0));
  }
  return 0;
}
int probed_engine() {
  std::vector<unsigned char> present(0x30000000 / 4096);
  for (const auto& [at, bytes] : engine_ranges) {
    say("mincore", mincore(at, bytes, present.data()));
    say("msync", msync(at, bytes, MS_ASYNC));
  }
  return 0;
}
int locked_engine() {
  for (const auto& [at, bytes] : engine_ranges) {
    say("mlock", mlock(at, bytes));
    say("munlock", munlock(at, bytes));
    say("mprotect", mprotect(at, bytes, PROT_NONE));
    if (bytes <= 64 << 10) say("munmap", munmap(at, bytes));
  }
  return 0;
}
int engine_with_threads() {
  std::thread other([] { pause(); });
  other.detach();
  for (const auto& [at, bytes] : engine_ranges) {
    say("madvise", madvise(at, bytes, MADV_DONTNEED));
    say("mremap", reinterpret_cast<long>(mremap(at, bytes, bytes * 2, MREMAP_MAYMOVE)));
    say("msync", msync(at, bytes, MS_ASYNC));
  }
  return 0;
}

struct Case {
  const char* name;
  int (*run)();
};

const Case cases[] = {{"seccomp_probes", seccomp_probes},
                      {"refused_filters", refused_filters},
                      {"filters", filters},
                      {"filters_all_threads", filters_all_threads},
                      {"filters_by_prctl", filters_by_prctl},
                      {"strict", strict},
                      {"dispatches", dispatches},
                      {"refused_dispatch", refused_dispatch},
                      {"numbers", numbers},
                      {"gs_base", gs_base},
                      {"reading_executes", reading_executes},
                      {"memory_by_directory", memory_by_directory},
                      {"emptied_file", emptied_file},
                      {"descriptors_of_others", descriptors_of_others},
                      {"old_calls", old_calls},
                      {"old_calls_not_made", old_calls_not_made},
                      {"ends_by_old_call", ends_by_old_call},
                      {"forks_by_old_call", forks_by_old_call},
                      {"engine_addresses", engine_addresses},
                      {"moved_engine", moved_engine},
                      {"moved_to_engine", moved_to_engine},
                      {"advised_engine", advised_engine},
                      {"advised_list", advised_list},
                      {"probed_engine", probed_engine},
                      {"locked_engine", locked_engine},
                      {"engine_with_threads", engine_with_threads}};

}  // namespace

int main(int argc, char** argv) {
  for (const Case& one : cases)
    if (argc > 1 && strcmp(argv[1], one.name) == 0) return one.run();
  return 99;
}
