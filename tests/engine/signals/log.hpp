/// What a program sees of its signals, written line by line so that a native run and one under the engine can be
/// compared: no addresses, no process IDs, no times.
#pragma once
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <initializer_list>

namespace signals {

/// Written at once: a process that dies of a signal has already written the events before.
__attribute__((format(printf, 1, 2))) inline void say(const char* format, ...) {
  char line[512];
  va_list list;
  va_start(list, format);
  const int n = vsnprintf(line, sizeof line, format, list);
  va_end(list);
  if (write(1, line, static_cast<size_t>(n)) != n) _exit(99);
}

inline uint64_t bit(int signal) { return uint64_t{1} << (signal - 1); }
inline uint64_t set_of(std::initializer_list<int> signals) {
  uint64_t set = 0;
  for (const int signal : signals) set |= bit(signal);
  return set;
}

/// struct sigaction in the kernel's layout: the C library's leaves flags out and keeps two signals for itself.
struct Action {
  void (*handler)(int, siginfo_t*, void*);
  unsigned long flags;
  void (*restorer)();
  uint64_t mask;
};
constexpr unsigned long has_restorer = 0x04000000;

extern "C" void signal_test_restorer();
asm(R"(
.text
signal_test_restorer:
  mov $15, %eax
  syscall
)");

inline long raw_action(int signal, const Action* set, Action* old) {
  return syscall(SYS_rt_sigaction, signal, set, old, 8);
}
inline long handle(int signal, void (*handler)(int, siginfo_t*, void*), unsigned long flags = 0, uint64_t mask = 0) {
  const Action action = {handler, flags | SA_SIGINFO | has_restorer, signal_test_restorer, mask};
  return raw_action(signal, &action, nullptr);
}
inline void ignore(int signal) {
  const Action action = {reinterpret_cast<void (*)(int, siginfo_t*, void*)>(1), has_restorer, signal_test_restorer, 0};
  raw_action(signal, &action, nullptr);
}
inline void by_default(int signal) {
  const Action action = {nullptr, has_restorer, signal_test_restorer, 0};
  raw_action(signal, &action, nullptr);
}

inline long change_mask(int how, uint64_t set) { return syscall(SYS_rt_sigprocmask, how, &set, nullptr, 8); }
inline uint64_t mask_now() {
  uint64_t set = 0;
  syscall(SYS_rt_sigprocmask, SIG_BLOCK, nullptr, &set, 8);
  return set;
}
inline uint64_t pending_now() {
  uint64_t set = 0;
  syscall(SYS_rt_sigpending, &set, 8);
  return set;
}
inline uint64_t& mask_of(void* context) {
  return *reinterpret_cast<uint64_t*>(&static_cast<ucontext_t*>(context)->uc_sigmask);
}

inline void send_to_thread(int signal) { syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), signal); }
inline void send_to_process(int signal) { kill(getpid(), signal); }
inline void queue_to_process(int signal, int value) {
  sigval v{};
  v.sival_int = value;
  sigqueue(getpid(), signal, v);
}
inline void queue_to_thread(int signal, int value) {
  siginfo_t info{};
  info.si_code = SI_QUEUE;
  info.si_pid = getpid();
  info.si_uid = getuid();
  info.si_value.sival_int = value;
  syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), signal, &info);
}

/// The first line of every handler.
inline void say_signal(const char* event, int signal, const siginfo_t* info, void* context) {
  const bool has_value = info->si_code == SI_QUEUE || info->si_code == SI_TIMER;
  const bool has_sender = info->si_code == SI_QUEUE || info->si_code == SI_USER || info->si_code == SI_TKILL;
  say("%s %d code %d value %d sender %d mask %llx returns to %llx\n", event, signal, info->si_code,
      has_value ? info->si_value.sival_int : 0, has_sender ? info->si_pid == getpid() : -1,
      static_cast<unsigned long long>(mask_now()), static_cast<unsigned long long>(mask_of(context)));
}

}  // namespace signals
