// The rules of signal(7), sigaction(2), sigaltstack(2), sigsuspend(2) and related calls, one by one. The argument names
// the rule; the output is what the program sees, natively or under the engine.
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

#include "log.hpp"

namespace {

using namespace signals;

const int real_time = SIGRTMIN;
volatile int depth, left;

void note(int signal, siginfo_t* info, void* context) {
  depth = depth + 1;
  say("(%d) ", depth);
  say_signal("handles", signal, info, context);
  depth = depth - 1;
}

void handle_all(std::initializer_list<int> signals, unsigned long flags = 0, uint64_t mask = 0) {
  for (const int signal : signals) handle(signal, note, flags, mask);
}

/// How a forked child that does this ends.
template <class F>
void in_child(const char* what, F&& f) {
  const pid_t child = fork();
  if (child == 0) {
    f();
    _exit(77);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
  }
  if (WIFSIGNALED(status))
    say("%s: killed by %d\n", what, WTERMSIG(status));
  else
    say("%s: exit %d\n", what, WEXITSTATUS(status));
}

// --- pending signals ---

void release(std::initializer_list<int> signals, void (*send)(int)) {
  handle_all(signals);
  uint64_t set = 0;
  for (const int signal : signals) set |= bit(signal);
  change_mask(SIG_BLOCK, set);
  for (const int signal : signals) send(signal);
  say("pending %llx\n", static_cast<unsigned long long>(pending_now()));
  change_mask(SIG_UNBLOCK, set);
  say("pending %llx\n", static_cast<unsigned long long>(pending_now()));
}

void released_together() {
  for (void (*send)(int) : {send_to_thread, send_to_process}) {
    release({SIGHUP, SIGILL, SIGFPE}, send);
    release({SIGUSR2, SIGHUP, SIGTERM}, send);
    release({SIGSEGV, SIGBUS, SIGTRAP, SIGFPE, SIGILL, SIGSYS}, send);
    release({real_time + 2, SIGUSR1, real_time, SIGTRAP}, send);
  }
}

void many_rounds() {
  for (int i = 0; i < 100; i++) release({SIGHUP, SIGILL, SIGFPE}, send_to_thread);
}

void merged() {
  handle_all({SIGUSR1, SIGILL, SIGSEGV, real_time});
  const uint64_t set = set_of({SIGUSR1, SIGILL, SIGSEGV, real_time});
  change_mask(SIG_BLOCK, set);
  for (const int signal : {SIGUSR1, SIGILL, SIGSEGV}) {
    send_to_thread(signal), send_to_thread(signal);    // one for the thread
    send_to_process(signal), send_to_process(signal);  // and one for the process
  }
  for (int i = 0; i < 5; i++) queue_to_process(real_time, i);
  change_mask(SIG_UNBLOCK, set);
}

void queued() {
  handle_all({real_time, real_time + 1, SIGTRAP});
  const uint64_t set = set_of({real_time, real_time + 1, SIGTRAP});
  change_mask(SIG_BLOCK, set);
  for (int i = 0; i < 4; i++) queue_to_process(real_time + 1 - i % 2, i);
  for (int i = 4; i < 8; i++) queue_to_thread(real_time + i % 2, i);
  queue_to_thread(SIGTRAP, 8);
  change_mask(SIG_UNBLOCK, set);
}

void handler_blocks_others() {
  handle_all({SIGILL, SIGFPE, SIGUSR1}, 0, set_of({SIGFPE, SIGUSR1}));
  const uint64_t set = set_of({SIGILL, SIGFPE, SIGUSR1});
  change_mask(SIG_BLOCK, set);
  for (const int signal : {SIGUSR1, SIGFPE, SIGILL}) send_to_thread(signal);
  change_mask(SIG_UNBLOCK, set);
}

void set_to_ignored() {
  const uint64_t set = set_of({SIGUSR1, SIGILL, SIGCHLD, real_time});
  handle_all({SIGUSR1, SIGILL, SIGCHLD, real_time});
  change_mask(SIG_BLOCK, set);
  for (const int signal : {SIGUSR1, SIGILL, SIGCHLD, real_time}) send_to_thread(signal), send_to_process(signal);
  say("pending %llx\n", static_cast<unsigned long long>(pending_now()));
  for (const int signal : {SIGUSR1, SIGILL, real_time}) ignore(signal);
  by_default(SIGCHLD);
  say("pending %llx\n", static_cast<unsigned long long>(pending_now()));
  for (const int signal : {SIGUSR1, SIGILL, SIGCHLD, real_time}) send_to_thread(signal);
  say("pending %llx\n",
      static_cast<unsigned long long>(pending_now()));  // blocked signals stay pending although ignored
  handle_all({SIGUSR1, SIGILL, SIGCHLD, real_time});
  change_mask(SIG_UNBLOCK, set);
}

void forked() {
  const uint64_t set = set_of({SIGUSR1, SIGILL, SIGSEGV});
  handle_all({SIGUSR1, SIGILL, SIGSEGV});
  change_mask(SIG_BLOCK, set);
  send_to_thread(SIGUSR1), send_to_thread(SIGILL), send_to_process(SIGSEGV);
  in_child("child", [&] {
    say("pending %llx mask %llx\n", static_cast<unsigned long long>(pending_now()),
        static_cast<unsigned long long>(mask_now()));
    change_mask(SIG_UNBLOCK, set);
    _exit(0);
  });
  change_mask(SIG_UNBLOCK, set);
}

void executed() {
  const uint64_t set = set_of({SIGUSR1, SIGILL, SIGSEGV, SIGTRAP});
  change_mask(SIG_BLOCK, set);
  send_to_thread(SIGUSR1), send_to_thread(SIGILL), send_to_process(SIGSEGV);
  ignore(SIGFPE);
  handle_all({SIGTRAP, SIGBUS});
  execl("/proc/self/exe", "signal_rules", "after_exec", nullptr);
}

void after_exec() {
  say("pending %llx mask %llx\n", static_cast<unsigned long long>(pending_now()),
      static_cast<unsigned long long>(mask_now()));
  for (const int signal : {SIGFPE, SIGTRAP, SIGBUS}) {
    Action action;
    raw_action(signal, nullptr, &action);
    say("%d: %lx\n", signal, reinterpret_cast<unsigned long>(action.handler));
  }
  handle_all({SIGUSR1, SIGILL, SIGSEGV});
  change_mask(SIG_SETMASK, 0);
}

// --- sigaction ---

void raises_again(int signal, siginfo_t* info, void* context) {
  depth = depth + 1;
  say("(%d) ", depth);
  say_signal("handles", signal, info, context);
  left = left - 1;
  if (left > 0) send_to_thread(signal);
  say("(%d) done\n", depth);
  depth = depth - 1;
}

void no_defer() {
  for (const int signal : {SIGUSR1, SIGILL}) {
    left = 4;
    handle(signal, raises_again, SA_NODEFER);
    send_to_thread(signal);
    left = 4;
    handle(signal, raises_again, SA_NODEFER, bit(signal));  // the mask counts nevertheless
    send_to_thread(signal);
    left = 4;
    handle(signal, raises_again);
    send_to_thread(signal);
  }
}

void reset_hand() {
  for (const int signal : {SIGUSR1, SIGFPE}) {
    handle(signal, note, SA_RESETHAND);
    send_to_thread(signal);
    Action action;
    raw_action(signal, nullptr, &action);
    say("%d: %d flags %lx\n", signal, action.handler == nullptr, action.flags);
    in_child("again", [&] { send_to_thread(signal); });
  }
}

void flags_kept() {
  Action action = {note, 0xffffffff & ~has_restorer, signal_test_restorer, ~uint64_t{0}};
  action.flags |= has_restorer;
  raw_action(SIGUSR1, &action, nullptr);
  Action kept;
  raw_action(SIGUSR1, nullptr, &kept);
  say("flags %lx mask %llx\n", kept.flags, static_cast<unsigned long long>(kept.mask));
  for (const int signal : {0, 9, 19, 64, 65, -1}) {
    errno = 0;
    const long set = raw_action(signal, &action, nullptr);
    const int e1 = errno;
    errno = 0;
    const long got = raw_action(signal, nullptr, &kept);
    say("%d: %ld %d, %ld %d\n", signal, set, e1, got, errno);
  }
  errno = 0;
  const long bad = raw_action(SIGKILL, reinterpret_cast<const Action*>(8), nullptr);
  say("bad address %ld %d\n", bad, errno);
}

void no_restorer() {
  in_child("without a restorer", [] {
    const Action action = {note, SA_SIGINFO, nullptr, 0};
    raw_action(SIGUSR1, &action, nullptr);
    send_to_thread(SIGUSR1);
  });
  in_child("without a restorer, and a handler of SIGSEGV", [] {
    handle(SIGSEGV, note);
    const Action action = {note, SA_SIGINFO, nullptr, 0};
    raw_action(SIGUSR1, &action, nullptr);
    send_to_thread(SIGUSR1);
    _exit(5);
  });
}

volatile uint64_t mask_for_return;
void changes_mask(int signal, siginfo_t* info, void* context) {
  say_signal("handles", signal, info, context);
  mask_of(context) = mask_for_return;
}

void mask_of_the_frame() {
  handle(SIGUSR1, changes_mask);
  handle_all({SIGUSR2, SIGTRAP, SIGSEGV});
  mask_for_return = ~uint64_t{0};
  send_to_thread(SIGUSR1);
  say("mask %llx\n", static_cast<unsigned long long>(mask_now()));
  for (const int signal : {SIGUSR1, SIGUSR2, SIGTRAP, SIGSEGV}) send_to_thread(signal);
  mask_for_return = bit(SIGUSR2);
  change_mask(SIG_UNBLOCK, bit(SIGUSR1));  // its handler's return lets the others through
  say("mask %llx pending %llx\n", static_cast<unsigned long long>(mask_now()),
      static_cast<unsigned long long>(pending_now()));
}

void bad_return(int signal, siginfo_t* info, void* context) {
  say_signal("handles", signal, info, context);
  if (signal == SIGSEGV) _exit(6);
  asm volatile("mov $8, %rsp\n mov $15, %eax\n syscall");
}

void frame_that_is_not_there() {
  in_child("no handler", [] {
    handle(SIGUSR1, bad_return);
    send_to_thread(SIGUSR1);
  });
  in_child("a handler of SIGSEGV", [] {
    static char memory[65536];
    stack_t stack{};
    stack.ss_sp = memory;
    stack.ss_size = sizeof memory;
    sigaltstack(&stack, nullptr);
    handle(SIGUSR1, bad_return);
    handle(SIGSEGV, bad_return, SA_ONSTACK);
    send_to_thread(SIGUSR1);
  });
}

void nothing_there() { *reinterpret_cast<volatile int*>(8) = 0; }

void blocked_faults() {
  in_child("blocked", [] {
    handle(SIGSEGV, note);
    change_mask(SIG_BLOCK, bit(SIGSEGV));
    nothing_there();
  });
  in_child("ignored", [] {
    ignore(SIGSEGV);
    nothing_there();
  });
  in_child("ignored, sent", [] {
    ignore(SIGSEGV);
    send_to_thread(SIGSEGV);
    _exit(4);
  });
  in_child("blocked int3", [] {
    handle(SIGTRAP, note);
    change_mask(SIG_BLOCK, bit(SIGTRAP));
    asm volatile("int3");
  });
  in_child("pending and blocked", [] {
    handle(SIGTRAP, note);
    change_mask(SIG_BLOCK, bit(SIGTRAP));
    send_to_thread(SIGTRAP);
    asm volatile("int3");
  });
}

int ends[2];
pid_t reader;

/// Sends a signal once the first thread reads from the pipe.
void* interrupts(void*) {
  char path[64], text[128], wanted[64];
  snprintf(path, sizeof path, "/proc/self/task/%d/syscall", reader);
  snprintf(wanted, sizeof wanted, "%d 0x%x ", SYS_read, ends[0]);
  for (;;) {
    const int fd = open(path, O_RDONLY);
    const ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n > 0 && strncmp(text, wanted, strlen(wanted)) == 0) break;
  }
  syscall(SYS_tgkill, getpid(), reader, SIGALRM);
  return nullptr;
}

void interrupts_system_calls() {
  if (pipe(ends) != 0) _exit(98);
  reader = getpid();
  const auto writes = [](int signal, siginfo_t* info, void* context) {
    say_signal("handles", signal, info, context);
    if (write(ends[1], "x", 1) != 1) _exit(97);
  };
  for (const unsigned long flags : {0ul, static_cast<unsigned long>(SA_RESTART)}) {
    handle(SIGALRM, writes, flags);
    pthread_t thread;
    pthread_create(&thread, nullptr, interrupts, nullptr);
    char c = 0;
    errno = 0;
    ssize_t r = read(ends[0], &c, 1);
    say("read %zd %d\n", r, errno);
    if (r < 0) r = read(ends[0], &c, 1);
    pthread_join(thread, nullptr);
  }
}

// --- the alternate stack ---

alignas(4096) char memory[1 << 18];
constexpr size_t below = 1 << 16;                        // the bytes below the stack must not change
constexpr int auto_disarm = static_cast<int>(1u << 31);  // SS_AUTODISARM

void use_stack(size_t bytes, int flags = 0) {
  memset(memory, 'x', sizeof memory);
  stack_t stack{};
  stack.ss_sp = memory + below;
  stack.ss_size = bytes;
  stack.ss_flags = flags;
  errno = 0;
  const int r = sigaltstack(&stack, nullptr);
  say("sigaltstack %d %d\n", r, r == 0 ? 0 : errno);
}

bool untouched() {
  for (size_t i = 0; i < below; i++)
    if (memory[i] != 'x') return false;
  return true;
}

void say_stack() {
  stack_t now{};
  sigaltstack(nullptr, &now);
  char here = 0;
  say("stack %d, flags %x, bytes %zu, on it %d\n", now.ss_sp == memory + below, now.ss_flags, now.ss_size,
      &here > memory && &here < memory + sizeof memory);
}

void on_stack(int signal, siginfo_t* info, void* context) {
  say_signal("handles", signal, info, context);
  say_stack();
  const stack_t& saved = static_cast<ucontext_t*>(context)->uc_stack;
  say("saved %d %x %zu\n", saved.ss_sp == memory + below, saved.ss_flags, saved.ss_size);
  stack_t other{};
  other.ss_sp = memory;
  other.ss_size = 8192;
  errno = 0;
  say("change %d", sigaltstack(&other, nullptr));
  say(" %d\n", errno);
  if (signal == SIGUSR1) send_to_thread(SIGUSR2);
}

void alternate_stack() {
  for (const int flags : {0, auto_disarm, static_cast<int>(SS_ONSTACK)}) {
    use_stack(65536, flags);
    handle(SIGUSR1, on_stack, SA_ONSTACK);
    handle(SIGUSR2, on_stack, SA_ONSTACK);
    send_to_thread(SIGUSR1);
    say_stack();
    handle(SIGUSR1, on_stack);
    send_to_thread(SIGUSR1);
    say_stack();
  }
  for (const size_t bytes : {size_t{0}, size_t{2047}, size_t{2048}}) use_stack(bytes);
  use_stack(65536, SS_DISABLE);
  say_stack();
  use_stack(65536, 4);
  say_stack();
}

void small_stack() {
  for (size_t bytes = 2048; bytes <= 16384; bytes += 512) {
    in_child("small", [&] {
      use_stack(bytes);
      handle(
          SIGUSR1, [](int, siginfo_t*, void*) {}, SA_ONSTACK);
      handle(SIGSEGV, [](int, siginfo_t*, void*) { _exit(untouched() ? 8 : 9); });
      send_to_thread(SIGUSR1);
      _exit(untouched() ? 3 : 4);
    });
    in_child("small, no handler of SIGSEGV", [&] {
      use_stack(bytes);
      handle(
          SIGTRAP, [](int, siginfo_t*, void*) {}, SA_ONSTACK);
      asm volatile("int3");
      _exit(untouched() ? 3 : 4);
    });
  }
}

char* shared_page() {
  return static_cast<char*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
}

volatile int* levels;
void nests(int signal, siginfo_t*, void*) {
  *levels = *levels + 1;
  if (*levels < 400) send_to_thread(signal);
}

void nested_on_stack() {
  levels = reinterpret_cast<volatile int*>(shared_page());
  in_child("nested", [] {
    use_stack(65536);
    handle(SIGUSR1, nests, SA_ONSTACK | SA_NODEFER);
    handle(SIGSEGV, [](int, siginfo_t* info, void*) { _exit(info->si_code == 0x80 && untouched() ? 11 : 12); });
    send_to_thread(SIGUSR1);
  });
  say("level %d\n", *levels);
}

int overflow(int n) {
  volatile char frame[4096];
  frame[0] = static_cast<char>(n);
  return n == 0 ? 0 : overflow(n + 1) + frame[0];
}

void stack_overflow() {
  use_stack(131072);
  handle(
      SIGSEGV,
      [](int, siginfo_t*, void* context) {
        say_stack();
        say("returns to %llx\n", static_cast<unsigned long long>(mask_of(context)));
        _exit(0);
      },
      SA_ONSTACK);
  overflow(1);
}

void frame_without_room() {
  // The stack pointer is invalid: the signal's frame cannot be written, and the kernel's SIGSEGV follows.
  in_child("on the alternate stack", [] {
    use_stack(131072);
    handle(SIGUSR1, note);
    handle(
        SIGSEGV,
        [](int signal, siginfo_t* info, void* context) {
          say_signal("handles", signal, info, context);
          say_stack();
          _exit(13);
        },
        SA_ONSTACK);
    asm volatile(
        "mov $64, %%ebx\n mov %%rsp, %%r12\n mov %%rbx, %%rsp\n mov $234, %%eax\n syscall\n mov %%r12, %%rsp" ::"D"(
            getpid()),
        "S"(syscall(SYS_gettid)), "d"(SIGUSR1)
        : "rax", "rcx", "r11", "rbx", "r12", "memory");
  });
  in_child("nowhere", [] {
    handle(SIGUSR1, note);
    handle(SIGSEGV, note);
    asm volatile(
        "mov $64, %%ebx\n mov %%rsp, %%r12\n mov %%rbx, %%rsp\n mov $234, %%eax\n syscall\n mov %%r12, %%rsp" ::"D"(
            getpid()),
        "S"(syscall(SYS_gettid)), "d"(SIGUSR1)
        : "rax", "rcx", "r11", "rbx", "r12", "memory");
  });
}

// --- masks for the duration of a call ---

template <class F>
void under_mask(const char* name, uint64_t mask, F&& call) {
  handle_all({SIGUSR1, SIGUSR2, SIGILL, SIGBUS, real_time});
  const uint64_t set = set_of({SIGUSR1, SIGUSR2, SIGILL, SIGBUS, real_time});
  change_mask(SIG_SETMASK, set | bit(SIGHUP));
  for (const int signal : {SIGUSR1, SIGUSR2, SIGILL, SIGBUS, real_time}) send_to_thread(signal);
  send_to_process(SIGBUS), send_to_process(SIGUSR1);
  errno = 0;
  const long r = call(&mask);
  say("%s: %ld %d mask %llx pending %llx\n", name, r, errno, static_cast<unsigned long long>(mask_now()),
      static_cast<unsigned long long>(pending_now()));
  change_mask(SIG_SETMASK, 0);
}

void temporary_masks() {
  const int epoll = epoll_create1(0);
  if (pipe(ends) != 0) _exit(98);
  for (const uint64_t mask : {uint64_t{0}, bit(SIGILL), set_of({SIGUSR1, SIGUSR2, SIGILL}), bit(real_time)}) {
    under_mask("sigsuspend", mask, [](const uint64_t* m) { return syscall(SYS_rt_sigsuspend, m, 8); });
    under_mask("ppoll", mask, [](const uint64_t* m) { return syscall(SYS_ppoll, nullptr, 0, nullptr, m, 8); });
    under_mask("pselect6", mask, [](const uint64_t* m) {
      const void* pair[2] = {m, reinterpret_cast<const void*>(8)};
      return syscall(SYS_pselect6, 0, nullptr, nullptr, nullptr, nullptr, pair);
    });
    under_mask("epoll_pwait", mask, [&](const uint64_t* m) {
      epoll_event event;
      return syscall(SYS_epoll_pwait, epoll, &event, 1, -1, m, 8);
    });
    under_mask("epoll_pwait2", mask, [&](const uint64_t* m) {
      epoll_event event;
      return syscall(441, epoll, &event, 1, nullptr, m, 8);
    });
    // Something is ready: no signal is delivered.
    under_mask("ppoll, ready", mask, [&](const uint64_t* m) {
      pollfd fd = {ends[1], POLLOUT, 0};
      return syscall(SYS_ppoll, &fd, 1, nullptr, m, 8);
    });
  }
  errno = 0;
  say("size %ld", syscall(SYS_rt_sigsuspend, ends, 4));
  say(" %d, address", errno);
  say(" %ld", syscall(SYS_rt_sigsuspend, 8, 8));
  say(" %d\n", errno);
}

/// An ignored signal ends no wait: the kernel restarts the call. It ends those of epoll(7) all the same.
void ignored_does_not_end_a_wait() {
  const timespec none{};
  const int epoll = epoll_create1(0);
  const uint64_t lets_through = 0;
  const void* pair[2] = {&lets_through, reinterpret_cast<const void*>(8)};
  epoll_event event;
  for (const int signal : {SIGTRAP, SIGSEGV, SIGUSR1})
    for (int kind = 0; kind < 4; kind++) {
      ignore(signal);
      handle_all({SIGUSR2});
      change_mask(SIG_SETMASK, set_of({signal, SIGUSR2}));
      send_to_process(signal);
      errno = 0;
      long r = 0;
      switch (kind) {
        case 0: r = syscall(SYS_ppoll, nullptr, 0, &none, &lets_through, 8); break;
        case 1: r = syscall(SYS_pselect6, 0, nullptr, nullptr, nullptr, &none, pair); break;
        case 2: r = syscall(SYS_epoll_pwait, epoll, &event, 1, -1, &lets_through, 8); break;
        default: {
          timer_t timer;
          sigevent at_end{};
          at_end.sigev_notify = SIGEV_SIGNAL;
          at_end.sigev_signo = SIGUSR2;
          itimerspec soon{};
          soon.it_value.tv_nsec = 1000000;
          if (timer_create(CLOCK_MONOTONIC, &at_end, &timer) != 0) _exit(98);
          timer_settime(timer, 0, &soon, nullptr);
          r = syscall(SYS_rt_sigsuspend, &lets_through, 8);
          timer_delete(timer);
        }
      }
      say("%d, kind %d: %ld %d pending %llx\n", signal, kind, r, errno, static_cast<unsigned long long>(pending_now()));
    }
}

volatile int ticks;
void counts_ticks(int, siginfo_t*, void*) { ticks = ticks + 1; }

/// A signal arrives at any moment of a system call, while other blocked signals are pending.
void comes_while_others_are_pending() {
  handle_all({SIGILL, SIGBUS});
  handle(SIGALRM, counts_ticks);
  change_mask(SIG_SETMASK, set_of({SIGILL, SIGBUS}));
  send_to_thread(SIGILL), send_to_process(SIGBUS);
  itimerval often{};
  often.it_value.tv_usec = often.it_interval.tv_usec = 30;
  setitimer(ITIMER_REAL, &often, nullptr);
  while (ticks < 5000) syscall(SYS_getppid);
  often = {};
  setitimer(ITIMER_REAL, &often, nullptr);
  say("pending %llx\n", static_cast<unsigned long long>(pending_now()));
  change_mask(SIG_SETMASK, 0);
}

void waited_for() {
  const uint64_t set = set_of({SIGUSR1, SIGUSR2, SIGILL, SIGSEGV, real_time});
  change_mask(SIG_BLOCK, set);
  send_to_process(SIGUSR2), send_to_thread(SIGILL), send_to_process(SIGSEGV);
  queue_to_process(real_time, 1), queue_to_process(real_time, 2), send_to_thread(SIGUSR1);
  const timespec now{};
  for (int i = 0; i < 8; i++) {
    siginfo_t info{};
    errno = 0;
    const long r = syscall(SYS_rt_sigtimedwait, &set, &info, &now, 8);
    say("%ld %d code %d value %d\n", r, errno, info.si_code, r == real_time ? info.si_value.sival_int : 0);
  }
}

void read_from_descriptor() {
  const uint64_t set = set_of({SIGUSR1, SIGILL, SIGTRAP, real_time});
  change_mask(SIG_BLOCK, set);
  const int fd = static_cast<int>(syscall(SYS_signalfd4, -1, &set, 8, SFD_NONBLOCK));
  send_to_thread(SIGILL), send_to_process(SIGTRAP), queue_to_process(real_time, 3), send_to_thread(SIGUSR1);
  for (int i = 0; i < 5; i++) {
    pollfd one = {fd, POLLIN, 0};
    const int ready = poll(&one, 1, 0);
    signalfd_siginfo info{};
    errno = 0;
    const ssize_t r = read(fd, &info, sizeof info);
    say("ready %d read %zd %d: %u code %d value %d\n", ready, r, errno, info.ssi_signo, info.ssi_code, info.ssi_int);
  }
}

// --- threads ---

constexpr int of_engine[] = {SIGTRAP, SIGFPE, SIGILL, SIGBUS, SIGSEGV, SIGUSR1};
volatile int taken, stop;
volatile int handled_by_other;
pthread_t other;

void* waits(void*) {
  uint64_t set = 0;
  for (const int signal : of_engine) set |= bit(signal);
  for (const int unused : of_engine) {
    (void)unused;
    siginfo_t info{};
    const long r = syscall(SYS_rt_sigtimedwait, &set, &info, nullptr, 8);
    say("other thread took %ld %d code %d\n", r, r < 0 ? errno : 0, info.si_code);
    taken = taken + 1;
  }
  return nullptr;
}

void process_signal_is_waited_for() {
  uint64_t set = 0;
  for (const int signal : of_engine) set |= bit(signal);
  change_mask(SIG_BLOCK, set);
  pthread_create(&other, nullptr, waits, nullptr);
  for (const int signal : of_engine) {
    const int before = taken;
    const pid_t child = fork();
    if (child == 0) {
      kill(getppid(), signal);
      _exit(0);
    }
    while (taken == before) asm volatile("pause");  // it computes and makes no system call
    waitpid(child, nullptr, 0);
  }
  pthread_join(other, nullptr);
}

void by_thread(int signal, siginfo_t* info, void*) {
  say("%s thread handles %d code %d\n", pthread_equal(pthread_self(), other) != 0 ? "other" : "first", signal,
      info->si_code);
  taken = taken + 1;
}

void* computes(void*) {
  change_mask(SIG_SETMASK, 0);
  stop = 1;
  while (stop != 2) asm volatile("pause");
  return nullptr;
}

void process_signal_is_not_blocked_elsewhere() {
  uint64_t set = 0;
  for (const int signal : of_engine) {
    handle(signal, by_thread);
    set |= bit(signal);
  }
  change_mask(SIG_BLOCK, set);
  pthread_create(&other, nullptr, computes, nullptr);
  while (stop == 0) asm volatile("pause");
  for (const int signal : of_engine) {
    const int before = taken;
    send_to_process(signal);
    while (taken == before) asm volatile("pause");
  }
  stop = 2;
  pthread_join(other, nullptr);
}

void* lets_through(void*) {
  change_mask(SIG_SETMASK, 0);
  stop = 1;
  return nullptr;
}

void process_signal_waits_for_a_thread() {
  uint64_t set = 0;
  for (const int signal : of_engine) {
    handle(signal, by_thread);
    set |= bit(signal);
  }
  change_mask(SIG_BLOCK, set);
  for (const int signal : of_engine) send_to_process(signal);
  say("pending %llx\n", static_cast<unsigned long long>(pending_now()));
  pthread_create(&other, nullptr, lets_through, nullptr);
  while (stop == 0) asm volatile("pause");
  pthread_join(other, nullptr);
  say("pending %llx\n", static_cast<unsigned long long>(pending_now()));
}

void* has_own(void*) {
  say("pending in a new thread %llx mask %llx\n", static_cast<unsigned long long>(pending_now()),
      static_cast<unsigned long long>(mask_now()));
  return nullptr;
}

void thread_signals_are_the_threads() {
  const uint64_t set = set_of({SIGILL, SIGUSR1, SIGBUS});
  change_mask(SIG_BLOCK, set);
  send_to_thread(SIGILL), send_to_thread(SIGUSR1), send_to_process(SIGBUS);
  pthread_create(&other, nullptr, has_own, nullptr);
  pthread_join(other, nullptr);
  say("pending %llx\n", static_cast<unsigned long long>(pending_now()));
}

void* reads(void* descriptor) {
  for (const int unused : of_engine) {
    (void)unused;
    signalfd_siginfo info{};
    const ssize_t r = read(static_cast<int>(reinterpret_cast<intptr_t>(descriptor)), &info, sizeof info);
    say("read %zd: %u\n", r, info.ssi_signo);
    taken = taken + 1;
  }
  return nullptr;
}

void process_signal_is_read_elsewhere() {
  uint64_t set = 0;
  for (const int signal : of_engine) set |= bit(signal);
  change_mask(SIG_BLOCK, set);
  const int fd = static_cast<int>(syscall(SYS_signalfd4, -1, &set, 8, 0));
  pthread_create(&other, nullptr, reads, reinterpret_cast<void*>(static_cast<intptr_t>(fd)));
  for (const int signal : of_engine) {
    const int before = taken;
    const pid_t child = fork();
    if (child == 0) {
      kill(getppid(), signal);
      _exit(0);
    }
    while (taken == before) asm volatile("pause");
    waitpid(child, nullptr, 0);
  }
  pthread_join(other, nullptr);
}

struct Rule {
  const char* name;
  void (*f)();
};
constexpr Rule rules[] = {
    {"released_together", released_together},
    {"many_rounds", many_rounds},
    {"merged", merged},
    {"queued", queued},
    {"handler_blocks_others", handler_blocks_others},
    {"set_to_ignored", set_to_ignored},
    {"forked", forked},
    {"executed", executed},
    {"after_exec", after_exec},
    {"no_defer", no_defer},
    {"reset_hand", reset_hand},
    {"flags_kept", flags_kept},
    {"no_restorer", no_restorer},
    {"mask_of_the_frame", mask_of_the_frame},
    {"frame_that_is_not_there", frame_that_is_not_there},
    {"blocked_faults", blocked_faults},
    {"interrupts_system_calls", interrupts_system_calls},
    {"alternate_stack", alternate_stack},
    {"small_stack", small_stack},
    {"nested_on_stack", nested_on_stack},
    {"stack_overflow", stack_overflow},
    {"frame_without_room", frame_without_room},
    {"temporary_masks", temporary_masks},
    {"ignored_does_not_end_a_wait", ignored_does_not_end_a_wait},
    {"comes_while_others_are_pending", comes_while_others_are_pending},
    {"waited_for", waited_for},
    {"read_from_descriptor", read_from_descriptor},
    {"process_signal_is_waited_for", process_signal_is_waited_for},
    {"process_signal_is_not_blocked_elsewhere", process_signal_is_not_blocked_elsewhere},
    {"process_signal_waits_for_a_thread", process_signal_waits_for_a_thread},
    {"thread_signals_are_the_threads", thread_signals_are_the_threads},
    {"process_signal_is_read_elsewhere", process_signal_is_read_elsewhere},
};

}  // namespace

int main(int count, char** words) {
  for (const Rule& rule : rules) {
    if (count < 2)
      puts(rule.name);
    else if (strcmp(words[1], rule.name) == 0) {
      rule.f();
      return 0;
    }
  }
  return count < 2 ? 0 : 2;
}
