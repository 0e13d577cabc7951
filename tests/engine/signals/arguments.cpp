// System calls about signals with every combination of valid and invalid arguments: what each returns and writes.
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include "log.hpp"

namespace {

using namespace signals;

const uintptr_t bad = 8;
uint64_t area[64];

uintptr_t good() {
  memset(area, 0, sizeof area);
  return reinterpret_cast<uintptr_t>(area);
}
/// The last bytes of mapped memory: a larger object does not fit.
uintptr_t last_bytes(size_t n) {
  static auto* const at =
      static_cast<uint8_t*>(mmap(nullptr, 2 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  mprotect(at + 4096, 4096, PROT_NONE);
  memset(at, 0, 4096);
  return reinterpret_cast<uintptr_t>(at) + 4096 - n;
}

template <class... T>
void show(const char* name, long number, T... arguments) {
  const long r = syscall(number, arguments...);
  say("%s %ld\n", name, r < 0 ? -errno : r);
}

void actions() {
  for (const long signal : {0L, 1L, 5L, 9L, 11L, 19L, 64L, 65L, -1L})
    for (const size_t size : {size_t{0}, size_t{4}, size_t{8}, size_t{16}})
      for (const uintptr_t set : {uintptr_t{0}, bad, good(), last_bytes(16)})
        for (const uintptr_t old : {uintptr_t{0}, bad, last_bytes(8)}) {
          if (set == reinterpret_cast<uintptr_t>(area)) good();
          say("%ld %zu %d %d: ", signal, size, set == 0 ? 0 : set == bad ? 1 : 2, old == 0 ? 0 : old == bad ? 1 : 2);
          show("rt_sigaction", SYS_rt_sigaction, signal, set, old, size);
        }
}

void masks() {
  for (const long how : {0L, 1L, 2L, 3L, -1L})
    for (const size_t size : {size_t{0}, size_t{4}, size_t{8}, size_t{16}})
      for (const uintptr_t set : {uintptr_t{0}, bad, good(), last_bytes(4)})
        for (const uintptr_t old : {uintptr_t{0}, bad, last_bytes(8), last_bytes(4)}) {
          say("%ld %zu %d %d: ", how, size, set == 0 ? 0 : set == bad ? 1 : 2, old == 0 ? 0 : old == bad ? 1 : 2);
          show("rt_sigprocmask", SYS_rt_sigprocmask, how, set, old, size);
        }
  for (const size_t size : {size_t{0}, size_t{7}, size_t{8}, size_t{9}})
    show("rt_sigsuspend", SYS_rt_sigsuspend, bad, size);
}

void pending() {
  change_mask(SIG_BLOCK, set_of({SIGTRAP, SIGUSR1, SIGILL}));
  for (const int signal : {SIGTRAP, SIGUSR1, SIGILL}) send_to_thread(signal), send_to_process(signal);
  for (size_t size = 0; size < 10; size++) {
    area[0] = good() != 0 ? ~uint64_t{0} : 0;
    say("%zu ", size);
    show("rt_sigpending", SYS_rt_sigpending, area, size);
    say("  %llx\n", static_cast<unsigned long long>(area[0]));
  }
  show("rt_sigpending", SYS_rt_sigpending, bad, 8);
  show("rt_sigpending", SYS_rt_sigpending, last_bytes(4), 8);
  show("rt_sigpending", SYS_rt_sigpending, last_bytes(4), 4);
}

void waiting() {
  const timespec none = {0, 0}, negative = {-1, 0}, much = {0, 1000000000};
  const uint64_t sets[] = {0, bit(SIGTRAP), bit(SIGUSR1), ~uint64_t{0}};
  for (const uint64_t& set : sets)
    for (const timespec* time : {&none, &negative, &much, reinterpret_cast<const timespec*>(bad)})
      for (const size_t size : {size_t{4}, size_t{8}})
        show("rt_sigtimedwait", SYS_rt_sigtimedwait, &set, 0, time, size);
  show("rt_sigtimedwait", SYS_rt_sigtimedwait, bad, 0, &none, 8);
  // The signal is taken before the write of its siginfo fails.
  change_mask(SIG_BLOCK, set_of({SIGTRAP, SIGUSR1}));
  for (const int signal : {SIGTRAP, SIGUSR1}) {
    const uint64_t set = bit(signal);
    send_to_thread(signal);
    show("rt_sigtimedwait", SYS_rt_sigtimedwait, &set, bad, &none, 8);
    show("rt_sigtimedwait", SYS_rt_sigtimedwait, &set, 0, &none, 8);
  }
}

void sending() {
  for (const int signal : {SIGTRAP, SIGUSR1, SIGSEGV, 64})
    handle(signal, [](int s, siginfo_t* info, void*) { say("  handles %d code %d\n", s, info->si_code); });
  for (const long signal : {0L, static_cast<long>(SIGTRAP), static_cast<long>(SIGUSR1), 64L, 65L, -1L})
    for (const int code : {-1, -2, -6, 0, 1, 0x80, -60}) {
      siginfo_t info{};
      info.si_code = code;
      info.si_signo = 3;  // not the signal that is sent
      say("%ld %d: ", signal, code);
      show("rt_sigqueueinfo", SYS_rt_sigqueueinfo, getpid(), signal, &info);
      show("rt_tgsigqueueinfo", SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), signal, &info);
    }
  show("rt_sigqueueinfo", SYS_rt_sigqueueinfo, getpid(), SIGUSR1, bad);
  show("rt_tgsigqueueinfo", SYS_rt_tgsigqueueinfo, getpid(), 1, SIGUSR1, bad);
  for (const long signal : {0L, 65L, -1L}) {
    show("kill", SYS_kill, getpid(), signal);
    show("tgkill", SYS_tgkill, getpid(), syscall(SYS_gettid), signal);
    show("tgkill of nobody", SYS_tgkill, 0, 0, signal);
    show("tkill", SYS_tkill, syscall(SYS_gettid), signal);
  }
}

void stacks() {
  for (const uintptr_t set : {uintptr_t{0}, bad, last_bytes(16), good()})
    for (const uintptr_t old : {uintptr_t{0}, bad, last_bytes(16), last_bytes(24)}) {
      show("sigaltstack", SYS_sigaltstack, set, old);
    }
  for (const int flags : {0, 1, 2, 3, 4, static_cast<int>(1u << 31), static_cast<int>(1u << 31 | 2), 1 << 30})
    for (const size_t size : {size_t{0}, size_t{2048}, size_t{65536}, ~size_t{0}}) {
      const stack_t wanted = {area, flags, size};
      stack_t now;
      say("%x %zu ", static_cast<unsigned>(flags), size);
      show("sigaltstack", SYS_sigaltstack, &wanted, nullptr);
      syscall(SYS_sigaltstack, nullptr, &now);
      say("  %d %x %zu\n", now.ss_sp == area, static_cast<unsigned>(now.ss_flags), now.ss_size);
      const stack_t none = {nullptr, SS_DISABLE, 0};
      syscall(SYS_sigaltstack, &none, nullptr);
    }
}

void temporary_masks() {
  const timespec none = {0, 0};
  const uint64_t set = 0;
  struct Pair {
    const void* mask;
    size_t size;
  };
  for (const void* mask :
       {static_cast<const void*>(nullptr), static_cast<const void*>(&set), reinterpret_cast<const void*>(bad)})
    for (const size_t size : {size_t{0}, size_t{4}, size_t{8}, size_t{9}}) {
      const Pair pair = {mask, size};
      epoll_event event;
      const int set_of_events = epoll_create1(0);
      show("ppoll", SYS_ppoll, nullptr, 0, &none, mask, size);
      show("pselect6", SYS_pselect6, 0, 0, 0, 0, &none, &pair);
      show("epoll_pwait", SYS_epoll_pwait, set_of_events, &event, 1, 0, mask, size);
      show("signalfd4", SYS_signalfd4, -2, mask, size, 0);
      close(set_of_events);
    }
  show("pselect6", SYS_pselect6, 0, 0, 0, 0, &none, bad);
  show("pselect6", SYS_pselect6, 0, 0, 0, 0, bad, nullptr);
  show("ppoll", SYS_ppoll, nullptr, 0, bad, &set, 8);
}

/// A signal that a thread sends itself may look like a fault.
void looking_like_faults() {
  const auto take = [](int signal, const char* how) {
    const uint64_t set = bit(signal);
    const timespec none = {0, 0};
    siginfo_t info{};
    const long r = syscall(SYS_rt_sigtimedwait, &set, &info, &none, 8);
    say("  %s: %ld code %d address %lx\n", how, r < 0 ? -errno : r, info.si_code,
        reinterpret_cast<unsigned long>(info.si_addr));
  };
  const long self = syscall(SYS_pidfd_open, getpid(), 0), parent = syscall(SYS_pidfd_open, getppid(), 0);
  for (const int signal : {SIGTRAP, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGUSR1})
    for (const int code : {1, 2, 4, 5, 0x80}) {
      siginfo_t info{};
      info.si_signo = signal;
      info.si_code = code;
      info.si_addr = reinterpret_cast<void*>(0x1234);
      handle(signal, [](int s, siginfo_t* i, void*) {
        say("  handles %d code %d address %lx\n", s, i->si_code, reinterpret_cast<unsigned long>(i->si_addr));
      });
      say("%d %d\n", signal, code);
      show("to the thread", SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), signal, &info);
      show("to the process", SYS_rt_sigqueueinfo, getpid(), signal, &info);
      show("by descriptor", SYS_pidfd_send_signal, self, signal, &info, 0);
      show("to another", SYS_pidfd_send_signal, parent, signal, &info, 0);
      show("another number", SYS_pidfd_send_signal, self, signal + 1, &info, 0);
      change_mask(SIG_BLOCK, bit(signal));
      show("blocked", SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), signal, &info);
      say("  pending %llx\n", static_cast<unsigned long long>(pending_now()));
      poll(nullptr, 0, 1);
      take(signal, "taken");
      show("blocked", SYS_rt_sigqueueinfo, getpid(), signal, &info);
      for (int i = 0; i < 3; i++) poll(nullptr, 0, 0);
      change_mask(SIG_UNBLOCK, bit(signal));
    }
}

/// As crash reporters do it: the fault is sent again, with the default action.
void raised_again() {
  for (const int signal : {SIGSEGV, SIGTRAP, SIGFPE, SIGBUS, SIGILL}) {
    const pid_t child = fork();
    if (child == 0) {
      handle(signal, [](int s, siginfo_t* info, void*) {
        say("  handles %d code %d\n", s, info->si_code);
        by_default(s);
        syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), s, info);
      });
      siginfo_t info{};
      info.si_code = 1;
      if (signal == SIGSEGV) *reinterpret_cast<volatile int*>(0x1000) = 1;
      if (signal == SIGTRAP) asm volatile("int3");
      if (signal == SIGILL) asm volatile("ud2");
      syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), signal, &info);
      _exit(1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    say("%d: %s %d\n", signal, WIFSIGNALED(status) ? "killed by" : "exit",
        WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
  }
}

struct Rule {
  const char* name;
  void (*check)();
};
constexpr Rule rules[] = {{"actions", actions},
                          {"masks", masks},
                          {"pending", pending},
                          {"waiting", waiting},
                          {"sending", sending},
                          {"stacks", stacks},
                          {"temporary_masks", temporary_masks},
                          {"looking_like_faults", looking_like_faults},
                          {"raised_again", raised_again}};

}  // namespace

int main(int count, char** words) {
  for (const Rule& rule : rules)
    if (count == 2 && strcmp(words[1], rule.name) == 0) {
      rule.check();
      return 0;
    }
  fprintf(stderr, "usage: signal_arguments RULE\n");
  return 2;
}
