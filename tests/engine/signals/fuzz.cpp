// Random sequences of what programs do with signals: actions, masks, sending in every way, faults, waiting in every
// way, alternate stacks, timers, a second thread; and the same in handlers. `signal_fuzz SEED COUNT` runs COUNT of
// them, each in a process of its own, and prints what each sees; the same seed runs the same sequences.
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>

#include "log.hpp"

namespace {

using namespace signals;

constexpr int kinds[] = {SIGHUP, SIGUSR1, SIGUSR2, SIGILL,  SIGTRAP, SIGBUS, SIGFPE, SIGSEGV,
                         SIGSYS, SIGALRM, SIGTERM, SIGCHLD, SIGURG,  34,     35,     36};
constexpr uint64_t of_processor = 1ull << 3 | 1ull << 4 | 1ull << 6 | 1ull << 7 | 1ull << 10;

uint64_t state;  // of the generator: the events determine its calls, so the numbers are the same in every run
uint32_t random_below(uint32_t n) {
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return static_cast<uint32_t>(state >> 33) % n;
}
int random_signal() { return kinds[random_below(sizeof kinds / sizeof *kinds)]; }
uint64_t random_set() {
  uint64_t set = 0;
  for (const int signal : kinds)
    if (random_below(3) == 0) set |= bit(signal);
  return set;
}
uint64_t all_kinds() {
  uint64_t set = 0;
  for (const int signal : kinds) set |= bit(signal);
  return set;
}

volatile int depth, actions_left;
unsigned char* volatile after_fault;  // where the program continues after a fault
alignas(64) char stack_memory[1 << 17];
constexpr size_t below_stack = 1 << 15;

void run_random_action();

void handler(int signal, siginfo_t* info, void* context) {
  depth = depth + 1;
  char event[32];
  snprintf(event, sizeof event, "%*shandles", depth, "");
  say_signal(event, signal, info, context);
  ucontext_t& c = *static_cast<ucontext_t*>(context);
  if (after_fault != nullptr && info->si_code > 0 && (of_processor & bit(signal)) && signal != SIGTRAP &&
      info->si_code != SI_KERNEL) {
    c.uc_mcontext.gregs[REG_RIP] = reinterpret_cast<greg_t>(after_fault);
    after_fault = nullptr;
  }
  if (depth < 4)
    for (uint32_t n = random_below(3); n > 0; n--) run_random_action();
  if (random_below(6) == 0) mask_of(context) = random_set();
  depth = depth - 1;
}

void set_action() {
  const int signal = random_signal();
  const uint32_t kind = random_below(40);
  if (kind < 2) {
    say("ignore %d\n", signal);
    return ignore(signal);
  }
  if (kind == 2) {
    say("default %d\n", signal);
    return by_default(signal);
  }
  unsigned long flags = 0;
  for (const unsigned long flag : {static_cast<unsigned long>(SA_NODEFER), static_cast<unsigned long>(SA_ONSTACK),
                                   static_cast<unsigned long>(SA_RESTART)})
    if (random_below(3) == 0) flags |= flag;
  if (random_below(30) == 0) flags |= SA_RESETHAND;
  const uint64_t mask = random_below(2) == 0 ? random_set() : 0;
  say("handle %d %lx %llx\n", signal, flags, static_cast<unsigned long long>(mask));
  handle(signal, handler, flags, mask);
}

void set_mask() {
  const uint64_t set = random_set();
  const int how = static_cast<int>(random_below(3));
  say("mask %d %llx\n", how, static_cast<unsigned long long>(set));
  change_mask(how, set);
  say("pending %llx\n", static_cast<unsigned long long>(pending_now()));
}

void send() {
  const int signal = random_signal();
  const uint32_t kind = random_below(4);
  say("send %d %u\n", signal, kind);
  switch (kind) {
    case 0: return send_to_thread(signal);
    case 1: return send_to_process(signal);
    case 2: return queue_to_process(signal, static_cast<int>(random_below(100)));
    default: return queue_to_thread(signal, static_cast<int>(random_below(100)));
  }
}

/// Several at once.
void release() {
  const uint64_t before = mask_now();
  change_mask(SIG_BLOCK, all_kinds());
  for (uint32_t n = 2 + random_below(4); n > 0; n--) send();
  say("release\n");
  change_mask(SIG_SETMASK, before);
}

void fault() {
  static const int signals[] = {SIGTRAP, SIGILL, SIGSEGV, SIGFPE};
  const uint32_t kind = random_below(4);
  Action action;
  raw_action(signals[kind], nullptr, &action);
  const bool kills = reinterpret_cast<unsigned long>(action.handler) <= 1 || (mask_now() & bit(signals[kind])) != 0;
  if (kills && random_below(20) != 0) return;
  say("fault %u\n", kind);
  switch (kind) {
    case 0: asm volatile("int3"); break;
    case 1: asm volatile("lea 1f(%%rip), %%rax\n mov %%rax, %0\n ud2\n 1:" : "=m"(after_fault)::"rax", "memory"); break;
    case 2:
      asm volatile("lea 1f(%%rip), %%rax\n mov %%rax, %0\n movl $0, 8\n 1:" : "=m"(after_fault)::"rax", "memory");
      break;
    default:
      asm volatile("lea 1f(%%rip), %%rax\n mov %%rax, %0\n xor %%ecx, %%ecx\n xor %%edx, %%edx\n div %%ecx\n 1:"
                   : "=m"(after_fault)::"rax", "rcx", "rdx", "memory");
  }
  after_fault = nullptr;
}

/// Whether a pending signal would end a wait under this mask, whatever its action is.
bool ends_wait(uint64_t mask) {
  uint64_t set = pending_now() & ~mask;
  for (const int signal : kinds) {
    Action action;
    raw_action(signal, nullptr, &action);
    const auto what = reinterpret_cast<unsigned long>(action.handler);
    if (what == 1 || (what == 0 && (signal == SIGCHLD || signal == SIGURG))) set &= ~bit(signal);
  }
  return set != 0;
}

void wait_under_mask() {
  uint64_t mask = random_set();
  const bool ends = ends_wait(mask);
  const uint32_t kind = random_below(4);
  if (kind == 0 && !ends) return;
  timespec none{};
  timespec* const time = ends ? nullptr : &none;
  say("wait %u %llx\n", kind, static_cast<unsigned long long>(mask));
  errno = 0;
  long r = 0;
  switch (kind) {
    case 0: r = syscall(SYS_rt_sigsuspend, &mask, 8); break;
    case 1: r = syscall(SYS_ppoll, nullptr, 0, time, &mask, 8); break;
    case 2: {
      const void* pair[2] = {&mask, reinterpret_cast<const void*>(8)};
      r = syscall(SYS_pselect6, 0, nullptr, nullptr, nullptr, time, pair);
      break;
    }
    default: {
      static const int epoll = epoll_create1(0);
      epoll_event event;
      r = syscall(SYS_epoll_pwait, epoll, &event, 1, ends ? -1 : 0, &mask, 8);
    }
  }
  say("waited %ld %d mask %llx pending %llx\n", r, errno, static_cast<unsigned long long>(mask_now()),
      static_cast<unsigned long long>(pending_now()));
}

void take() {
  const uint64_t set = random_set();
  const timespec none{};
  siginfo_t info{};
  say("take %llx\n", static_cast<unsigned long long>(set));
  errno = 0;
  const long r = syscall(SYS_rt_sigtimedwait, &set, &info, &none, 8);
  say("took %ld %d code %d\n", r, errno, info.si_code);
}

void read_descriptor() {
  const uint64_t set = random_set();
  const int fd = static_cast<int>(syscall(SYS_signalfd4, -1, &set, 8, SFD_NONBLOCK));
  signalfd_siginfo info[3]{};
  say("read %llx\n", static_cast<unsigned long long>(set));
  errno = 0;
  const ssize_t r = read(fd, info, sizeof info);
  say("did %zd %d: %u %u %u\n", r, errno, info[0].ssi_signo, info[1].ssi_signo, info[2].ssi_signo);
  close(fd);
}

void set_stack() {
  static const size_t sizes[] = {2047, 2048, 4096, 16384, 65536, 65536, 65536, 65536, 65536, 65536, 65536, 65536};
  stack_t stack{}, old{};
  stack.ss_sp = stack_memory + below_stack;
  stack.ss_size = sizes[random_below(12)];
  const uint32_t kind = random_below(8);
  stack.ss_flags = kind == 0 ? SS_DISABLE : kind == 1 ? static_cast<int>(1u << 31) : 0;
  errno = 0;
  const int r = sigaltstack(&stack, &old);
  say("stack %zu %x: %d %d, was %zu %x\n", stack.ss_size, stack.ss_flags, r, errno, old.ss_size, old.ss_flags);
}

void use_timer() {
  const int signal = random_signal();
  const uint64_t set = bit(signal), before = mask_now();
  say("timer %d\n", signal);
  change_mask(SIG_BLOCK, set);
  const timespec none{};
  while (syscall(SYS_rt_sigtimedwait, &set, nullptr, &none, 8) > 0) say("one is there already\n");
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = signal;
  event.sigev_value.sival_int = 7;
  timer_t timer;
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) return;
  itimerspec when{};
  when.it_value.tv_nsec = 20000;
  timer_settime(timer, 0, &when, nullptr);
  Action action;
  raw_action(signal, nullptr, &action);
  siginfo_t info{};
  const timespec long_enough = {5, 0};
  errno = 0;
  const long r = syscall(SYS_rt_sigtimedwait, &set, &info, &long_enough, 8);
  say("came %ld %d code %d\n", r, errno, info.si_code);
  timer_delete(timer);
  change_mask(SIG_SETMASK, before);
}

// A second thread, one at a time, that waits for signals of the process or handles them while the first blocks them.
struct SecondThread {
  uint64_t wants;
  bool waits;
  volatile int ready, got;
};

void* other_thread(void* p) {
  SecondThread& o = *static_cast<SecondThread*>(p);
  if (!o.waits) change_mask(SIG_SETMASK, ~o.wants);
  o.ready = 1;
  if (o.waits) {
    siginfo_t info{};
    const long r = syscall(SYS_rt_sigtimedwait, &o.wants, &info, nullptr, 8);
    say("other took %ld code %d\n", r, info.si_code);
    o.got = 1;
  }
  while (o.got == 0) asm volatile("pause");
  return nullptr;
}

SecondThread* volatile the_other;
void other_handles(int signal, siginfo_t* info, void*) {
  say("other handles %d code %d, as %d\n", signal, info->si_code, syscall(SYS_gettid) != getpid());
  the_other->got = 1;
}

void use_thread() {
  if (depth != 0) return;
  const int signal = random_signal();
  if (signal == SIGCHLD || signal == SIGURG) return;
  const uint64_t before = mask_now();
  change_mask(SIG_SETMASK, ~uint64_t{0});
  if (pending_now() & bit(signal)) {
    change_mask(SIG_SETMASK, before);
    return;
  }
  SecondThread o{bit(signal), random_below(2) == 0, 0, 0};
  the_other = &o;
  Action action;
  raw_action(signal, nullptr, &action);
  if (!o.waits || reinterpret_cast<unsigned long>(action.handler) == 1) handle(signal, other_handles);
  say("thread %d %d\n", signal, o.waits);
  pthread_t thread;
  if (pthread_create(&thread, nullptr, other_thread, &o) != 0) _exit(98);
  while (o.ready == 0) asm volatile("pause");
  if (random_below(2) == 0)
    send_to_process(signal);
  else
    queue_to_process(signal, 9);
  pthread_join(thread, nullptr);
  raw_action(signal, &action, nullptr);
  change_mask(SIG_SETMASK, before);
}

void run_random_action() {
  if (actions_left == 0) return;
  actions_left = actions_left - 1;
  switch (random_below(12)) {
    case 0: return set_action();
    case 1:
    case 2: return set_mask();
    case 3:
    case 4: return send();
    case 5: return release();
    case 6: return fault();
    case 7: return wait_under_mask();
    case 8: return take();
    case 9: return read_descriptor();
    case 10: return set_stack();
    default: return random_below(2) == 0 ? use_timer() : use_thread();
  }
}

void run(uint64_t seed) {
  state = seed * 0x9E3779B97F4A7C15ull + 1;
  for (const int signal : kinds) handle(signal, handler, random_below(4) == 0 ? SA_ONSTACK : 0);
  memset(stack_memory, 'x', sizeof stack_memory);
  actions_left = 60;
  while (actions_left > 0) run_random_action();
  change_mask(SIG_SETMASK, 0);
  for (size_t i = 0; i < below_stack; i++)
    if (stack_memory[i] != 'x') {
      say("written below the stack\n");
      break;
    }
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) return 2;
  const uint64_t first = strtoull(words[1], nullptr, 10), n = strtoull(words[2], nullptr, 10);
  for (uint64_t seed = first; seed < first + n; seed++) {
    say("seed %llu\n", static_cast<unsigned long long>(seed));
    const pid_t child = fork();
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      run(seed);
      _exit(0);
    }
    const int process = static_cast<int>(syscall(SYS_pidfd_open, child, 0));
    pollfd end = {process, POLLIN, 0};
    constexpr int patience_ms = 300000;  // many seeds may run at once on a busy machine
    if (poll(&end, 1, patience_ms) != 1) {
      kill(child, SIGKILL);
      say("hangs\n");
    }
    close(process);
    int status = 0;
    waitpid(child, &status, 0);
    say("ended %x\n", status);
  }
}
