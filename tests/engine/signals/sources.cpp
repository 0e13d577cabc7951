// Pending signals and their senders: a timer that is deleted or set again withdraws its signal, its overrun count is
// reported, and a signal that cannot be queued is refused or loses its siginfo. The argument names the rule.
#include <poll.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>

#include "log.hpp"

namespace {

using namespace signals;

constexpr int kinds[] = {SIGTRAP, SIGSEGV, SIGUSR1};

const char* amount(int n) { return n == 0 ? "none" : n > 0 ? "some" : "wrong"; }

bool blocks_again;  ///< a handler's return blocks its signal: it runs once

void note(int signal, siginfo_t* info, void* context) {
  if (blocks_again) mask_of(context) |= bit(signal);
  const bool by_timer = info->si_code == SI_TIMER;
  say("  handles %d code %d value %d overruns %s\n", signal, info->si_code, by_timer ? info->si_value.sival_int : 0,
      by_timer ? amount(info->si_overrun) : "-");
}

using Timer = int;
Timer make_timer(int signal, int value, bool for_thread = false) {
  sigevent event{};
  event.sigev_notify = for_thread ? SIGEV_THREAD_ID : SIGEV_SIGNAL;
  event.sigev_signo = signal;
  event.sigev_value.sival_int = value;
  event._sigev_un._tid = static_cast<int>(syscall(SYS_gettid));
  Timer timer = -1;
  if (syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer) != 0) say("  no timer: %d\n", errno);
  return timer;
}
void set_timer(Timer timer, long first_ns, long interval_ns = 0) {
  const itimerspec times = {{0, interval_ns}, {0, first_ns}};
  syscall(SYS_timer_settime, timer, 0, &times, nullptr);
}
void delete_timer(Timer timer) { syscall(SYS_timer_delete, timer); }
int overruns(Timer timer) { return static_cast<int>(syscall(SYS_timer_getoverrun, timer)); }

void wait_for_pending(int signal) {
  while (!(pending_now() & bit(signal))) poll(nullptr, 0, 1);
}

void say_pending(int signal) { say("  pending: %d\n", (pending_now() & bit(signal)) != 0); }

/// With the signal blocked and pending, by a timer that has expired once.
template <class F>
void with_pending(const char* name, F change, bool for_thread = false) {
  for (const int signal : kinds) {
    say("%s: %d\n", name, signal);
    change_mask(SIG_BLOCK, bit(signal));
    const Timer timer = make_timer(signal, 7, for_thread);
    set_timer(timer, 1000000);
    wait_for_pending(signal);
    change(signal, timer);
    say_pending(signal);
    say("  released\n");
    change_mask(SIG_UNBLOCK, bit(signal));
    say_pending(signal);
    delete_timer(timer);
  }
}

void deleted() {
  with_pending("kept", [](int, Timer) {});
  with_pending("deleted", [](int, Timer timer) { delete_timer(timer); });
  with_pending(
      "deleted, for a thread", [](int, Timer timer) { delete_timer(timer); }, true);
  with_pending("disarmed", [](int, Timer timer) { set_timer(timer, 0); });
  with_pending("set again", [](int, Timer timer) { set_timer(timer, 900000000); });
  with_pending("not set again", [](int, Timer timer) { set_timer(timer, -1); });
  with_pending("another is deleted", [](int signal, Timer) { delete_timer(make_timer(signal, 8)); });
}

void deleted_and_asked_for() {
  with_pending("waited for after it was deleted", [](int signal, Timer timer) {
    const uint64_t set = bit(signal);
    const timespec none{};
    delete_timer(timer);
    const long r = syscall(SYS_rt_sigtimedwait, &set, nullptr, &none, 8);
    say("  waits: %ld\n", r < 0 ? -errno : r);
  });
  with_pending("read after it was deleted", [](int signal, Timer timer) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    const int fd = signalfd(-1, &set, SFD_NONBLOCK);
    signalfd_siginfo info;
    delete_timer(timer);
    const ssize_t n = read(fd, &info, sizeof info);
    say("  reads: %zd\n", n < 0 ? -errno : n);
    close(fd);
  });
  with_pending("sent again after it was deleted", [](int signal, Timer timer) {
    delete_timer(timer);
    send_to_process(signal);
  });
}

void pass_in_user_code(long ns) {
  timespec start, now;
  clock_gettime(CLOCK_MONOTONIC, &start);
  do clock_gettime(CLOCK_MONOTONIC, &now);
  while ((now.tv_sec - start.tv_sec) * 1000000000 + now.tv_nsec - start.tv_nsec < ns);
}

/// A timer expires again and again while its signal is blocked, in a system call or outside; then the signal is taken.
/// During that call the engine passes the signals that it holds to the kernel, and if the timer expires at that moment,
/// the kernel keeps only the later signal: then the test tries again.
void take_after_long(int signal, bool in_call) {
  const timespec none{};
  const uint64_t set = bit(signal);
  siginfo_t info{};
  change_mask(SIG_BLOCK, set);
  const Timer timer = make_timer(signal, 3);
  long taken = 0;
  for (int attempt = 0; attempt < 10 && info.si_overrun == 0; attempt++) {
    set_timer(timer, 1000000, 1000000);
    if (in_call)
      poll(nullptr, 0, 30);
    else
      pass_in_user_code(30000000);
    taken = syscall(SYS_rt_sigtimedwait, &set, &info, &none, 8);
  }
  say("  waits: %ld code %d overruns %s\n", taken, info.si_code, amount(info.si_overrun));
  poll(nullptr, 0, 5);  // it may have expired again, but no signal was taken
  say("  asked: %s\n", amount(overruns(timer)));
  set_timer(timer, 0);
  say("  asked after it was set: %s\n", amount(overruns(timer)));
  change_mask(SIG_UNBLOCK, set);
  say_pending(signal);
  delete_timer(timer);
}

void runs_out_often() {
  for (const int signal : kinds) {
    say("in a system call: %d\n", signal);
    take_after_long(signal, true);
    say("in user code: %d\n", signal);
    take_after_long(signal, false);
    say("handled after long: %d\n", signal);
    change_mask(SIG_BLOCK, bit(signal));
    const Timer timer = make_timer(signal, 4);
    set_timer(timer, 1000000, 10000000);
    poll(nullptr, 0, 50);
    blocks_again = true;
    change_mask(SIG_UNBLOCK, bit(signal));
    blocks_again = false;
    say("  asked: %s\n", amount(overruns(timer)));
    delete_timer(timer);
    change_mask(SIG_UNBLOCK, bit(signal));
  }
}

/// The new program starts without timers.
void executed() {
  change_mask(SIG_BLOCK, set_of({SIGTRAP, SIGSEGV, SIGUSR1, SIGFPE}));
  for (const int signal : kinds) {
    const Timer timer = make_timer(signal, 5);
    set_timer(timer, 1000000);
    wait_for_pending(signal);
  }
  send_to_thread(SIGFPE);
  execl("/proc/self/exe", "signal_sources", "after_exec", nullptr);
}

void after_exec() {
  for (const int signal : {SIGTRAP, SIGSEGV, SIGUSR1, SIGFPE}) handle(signal, note);
  say("after the execve\n");
  change_mask(SIG_SETMASK, 0);
}

void forked() {
  with_pending("forked", [](int signal, Timer) {
    const pid_t child = fork();
    if (child == 0) {
      say_pending(signal);
      _exit(0);
    }
    siginfo_t info;
    waitid(P_PID, static_cast<id_t>(child), &info, WEXITED);
  });
}

/// If nothing more can be queued, a standard signal arrives without its siginfo.
void at_the_limit() {
  const rlimit none = {0, 0};
  setrlimit(RLIMIT_SIGPENDING, &none);
  for (const int signal : {SIGTRAP, SIGSEGV, SIGFPE, SIGILL, SIGUSR1}) {
    void (*const senders[])(int) = {send_to_process, send_to_thread, [](int s) { queue_to_process(s, 5); },
                                    [](int s) { queue_to_thread(s, 6); }};
    for (const auto send : senders) {
      say("sent at the limit: %d\n", signal);
      handle(signal, note);
      send(signal);
      say("  blocked\n");
      change_mask(SIG_BLOCK, bit(signal));
      send(signal);
      say_pending(signal);
      change_mask(SIG_UNBLOCK, bit(signal));
    }
  }
  sigval value{};
  say("real-time: %d %d\n", sigqueue(getpid(), SIGRTMIN, value), errno);
  say("a timer: ");
  make_timer(SIGTRAP, 1);
}

struct Rule {
  const char* name;
  void (*check)();
};
constexpr Rule rules[] = {{"deleted", deleted},
                          {"deleted_and_asked_for", deleted_and_asked_for},
                          {"runs_out_often", runs_out_often},
                          {"executed", executed},
                          {"after_exec", after_exec},
                          {"forked", forked},
                          {"at_the_limit", at_the_limit}};

}  // namespace

int main(int count, char** words) {
  for (const int signal : kinds) handle(signal, note);
  for (const Rule& rule : rules)
    if (count == 2 && strcmp(words[1], rule.name) == 0) {
      rule.check();
      return 0;
    }
  fprintf(stderr, "usage: signal_sources RULE\n");
  return 2;
}
