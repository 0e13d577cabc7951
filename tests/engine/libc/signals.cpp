// Signals in every way that programs use them. The argument selects the case; exit code 0 means that everything was as
// natively, any other is the line that failed (modulo 256, the line itself on standard error).
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <initializer_list>

namespace {

void check(bool holds, int line = __builtin_LINE()) {
  if (holds) return;
  dprintf(2, "line %d, errno %d\n", line, errno);
  _exit(line % 255 + 1);
}

using Handler = void(int, siginfo_t*, void*);

void handle(int signal, Handler* handler, int flags = 0, sigset_t mask = {}) {
  struct sigaction action {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | flags;
  action.sa_mask = mask;
  check(sigaction(signal, &action, nullptr) == 0);
}

sigset_t set_of(std::initializer_list<int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals) sigaddset(&set, signal);
  return set;
}

greg_t& reg(void* context, int index) { return static_cast<ucontext_t*>(context)->uc_mcontext.gregs[index]; }

bool blocked(int signal) {
  sigset_t now;
  sigprocmask(SIG_BLOCK, nullptr, &now);
  return sigismember(&now, signal) == 1;
}

/// A store to an unmapped address.
void fault() { asm volatile("movl $0, 8" ::: "memory"); }

volatile sig_atomic_t counted;
void count(int, siginfo_t*, void*) { counted = counted + 1; }

volatile sig_atomic_t depth, deepest;
void deeper(int signal, siginfo_t*, void*) {
  depth = depth + 1;
  counted = counted + 1;
  if (depth > deepest) deepest = depth;
  if (counted < 5) raise(signal);
  depth = depth - 1;
}

void nested() {
  handle(SIGUSR1, deeper, SA_NODEFER);
  raise(SIGUSR1);
  check(deepest == 5 && depth == 0);
  deepest = 0;
  counted = 0;
  handle(SIGUSR1, deeper);  // each waits for the one before to end
  raise(SIGUSR1);
  check(deepest == 1 && depth == 0 && counted == 5);
}

void resets() {
  handle(SIGUSR1, count, SA_RESETHAND);
  raise(SIGUSR1);
  struct sigaction now {};
  sigaction(SIGUSR1, nullptr, &now);
  check(counted == 1 && now.sa_handler == SIG_DFL);
  const pid_t child = fork();
  if (child == 0) {
    raise(SIGUSR1);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  check(WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR1);
}

// --- stacks ---

alignas(64) char stack_memory[65536];
volatile bool on_it, was_disarmed;
sigjmp_buf back;

void check_stack(int, siginfo_t*, void*) {
  char here;
  on_it = &here >= stack_memory && &here < stack_memory + sizeof stack_memory;
  stack_t now{};
  check(sigaltstack(nullptr, &now) == 0);
  was_disarmed = (now.ss_flags & SS_DISABLE) != 0;
}

void leave_by_jump(int, siginfo_t*, void*) { siglongjmp(back, 1); }

__attribute__((noinline)) int recurse(volatile char* before) {
  volatile char frame[4096];
  frame[0] = before == nullptr ? char{1} : before[0];
  return frame[0] == 0 ? 0 : recurse(frame) + frame[0];
}

void stacks() {
  constexpr unsigned autodisarm = 1u << 31;
  stack_t stack{};
  stack.ss_sp = stack_memory;
  stack.ss_size = 1000;
  check(sigaltstack(&stack, nullptr) == -1 && errno == ENOMEM);
  stack.ss_size = sizeof stack_memory;
  stack.ss_flags = 77;
  check(sigaltstack(&stack, nullptr) == -1 && errno == EINVAL);
  stack.ss_flags = static_cast<int>(autodisarm);
  check(sigaltstack(&stack, nullptr) == 0);
  handle(SIGUSR1, check_stack, SA_ONSTACK);
  raise(SIGUSR1);
  check(on_it && was_disarmed);
  stack_t now{};
  check(sigaltstack(nullptr, &now) == 0 && now.ss_sp == stack_memory);
  stack.ss_flags = 0;
  check(sigaltstack(&stack, nullptr) == 0);
  raise(SIGUSR1);
  check(on_it && !was_disarmed);
  // The stack overflows onto the other one, more than once.
  handle(SIGSEGV, leave_by_jump, SA_ONSTACK);
  static int i;
  for (i = 0; i < 3; ++i)
    if (sigsetjmp(back, 1) == 0) check(recurse(nullptr) == 0);
}

void jumps() {
  handle(SIGUSR1, leave_by_jump);
  handle(SIGSEGV, leave_by_jump);
  static int left, i;
  for (i = 0; i < 20000; ++i) {
    if (sigsetjmp(back, 1) != 0) {
      ++left;
      continue;
    }
    if (i % 2 == 0)
      raise(SIGUSR1);
    else
      fault();
  }
  check(left == 20000 && !blocked(SIGUSR1) && !blocked(SIGSEGV));
}

// --- contexts ---

extern "C" char change_here[], change_there[];

void change_context(int, siginfo_t*, void* context) {
  reg(context, REG_RIP) = reinterpret_cast<greg_t>(change_there);
  reg(context, REG_R12) = 0x1234;
  reg(context, REG_EFL) |= 0x41;  // ZF and CF
  auto* vectors = static_cast<ucontext_t*>(context)->uc_mcontext.fpregs;
  vectors->_xmm[5].element[0] = 0xabcd;
  sigaddset(&static_cast<ucontext_t*>(context)->uc_sigmask, SIGUSR2);
}

void contexts() {
  handle(SIGSEGV, change_context);
  uint64_t r12 = 0, flags = 0, xmm = 0;
  asm volatile(
      "xorl %%r12d, %%r12d; pxor %%xmm5, %%xmm5; testq %%rsp, %%rsp\n"
      "change_here: movl $1, 8\n ud2\n"
      "change_there: pushfq; popq %1; movq %%r12, %0; movq %%xmm5, %2"
      : "=r"(r12), "=r"(flags), "=r"(xmm)::"r12", "xmm5", "cc", "memory");
  check(r12 == 0x1234 && (flags & 0x41) == 0x41 && xmm == 0xabcd && blocked(SIGUSR2));
}

struct Trap {
  int signal, code;
  uint64_t address, rip;
};
volatile int seen_count;
Trap seen[64];
int skip;
extern "C" char at_divide[], at_ud2[], at_int3[], at_int_3[], at_icebp[], at_sse[];

void record_trap(int signal, siginfo_t* info, void* context) {
  if (seen_count < 64)
    seen[seen_count] = {signal, info->si_code, reinterpret_cast<uint64_t>(info->si_addr),
                        static_cast<uint64_t>(reg(context, REG_RIP))};
  seen_count = seen_count + 1;
  reg(context, REG_RIP) += skip;
  // Some virtual machines report icebp with its own address, not the next one.
  if (seen_count == 5 && reg(context, REG_RIP) == reinterpret_cast<greg_t>(at_icebp)) reg(context, REG_RIP) += 1;
}

/// si_code, address and the address to continue at, for every fault or trap that an instruction raises.
void faults() {
  for (const int signal : {SIGFPE, SIGILL, SIGTRAP, SIGSEGV}) handle(signal, record_trap);
  skip = 2;
  asm volatile("xorl %%edx, %%edx; xorl %%ecx, %%ecx; at_divide: divl %%ecx" ::: "eax", "ecx", "edx", "cc");
  asm volatile("at_ud2: ud2");
  skip = 0;
  asm volatile("at_int3: int3");
  asm volatile("at_int_3: .byte 0xcd, 3");
  asm volatile("at_icebp: .byte 0xf1");
  check(seen_count == 5);
  const auto is = [](int i, int signal, int code, char* address, char* rip) {
    const Trap& s = seen[i];
    check(s.signal == signal && s.code == code && s.address == reinterpret_cast<uint64_t>(address) &&
              s.rip == reinterpret_cast<uint64_t>(rip),
          1000 + i);
  };
  is(0, SIGFPE, FPE_INTDIV, at_divide, at_divide);
  is(1, SIGILL, ILL_ILLOPN, at_ud2, at_ud2);
  is(2, SIGTRAP, SI_KERNEL, nullptr, at_int3 + 1);
  check(seen[4].signal == SIGTRAP && seen[4].address == seen[4].rip &&
        seen[4].rip - reinterpret_cast<uint64_t>(at_icebp) <= 1);
  // int 3 of two bytes is not a breakpoint for the kernel: it is like int3, or a fault.
  dprintf(1, "%d %d %d\n", seen[3].signal, seen[3].code,
          static_cast<int>(seen[3].rip - reinterpret_cast<uint64_t>(at_int_3)));
  // Floating point, each with its unmasked exception.
  seen_count = 0;
  skip = 4;
  asm volatile(
      "subq $16, %%rsp; movl $0x1d80, (%%rsp); ldmxcsr (%%rsp); pxor %%xmm0, %%xmm0; movl $1, %%eax\n"
      "cvtsi2sd %%eax, %%xmm1\n at_sse: divsd %%xmm0, %%xmm1\n movl $0x1f80, (%%rsp); ldmxcsr (%%rsp); addq $16, "
      "%%rsp" ::
          : "eax", "xmm0", "xmm1", "memory");
  check(seen_count == 1 && seen[0].signal == SIGFPE && seen[0].code == FPE_FLTDIV &&
        seen[0].rip == reinterpret_cast<uint64_t>(at_sse) && seen[0].address == seen[0].rip);
}

void raises_trap_flag(bool on) {
  if (on)
    asm volatile("pushfq; orl $0x100, (%%rsp); popfq" ::: "cc", "memory");
  else
    asm volatile("pushfq; andl $~0x100, (%%rsp); popfq" ::: "cc", "memory");
}

extern "C" char step_from[], step_to[];

/// A program that steps itself: a trap after each instruction.
void steps() {
  handle(SIGTRAP, record_trap);
  skip = 0;
  asm volatile(
      "pushfq; orl $0x100, (%%rsp); popfq\n"
      "step_from: nop; movl $5, %%eax; 1: decl %%eax; jnz 1b; pushfq; andl $~0x100, (%%rsp); popfq\n"
      "step_to: nop" ::
          : "eax", "cc", "memory");
  check(seen_count == 1 + 1 + 10 + 3);
  // Through a call and a return; a system call has no trap of its own.
  const int before = seen_count;
  asm volatile(
      "pushfq; orl $0x100, (%%rsp); popfq\n"
      "call 2f; jmp 3f; 2: nop; ret\n"
      "3: movl $39, %%eax; syscall; nop; pushfq; andl $~0x100, (%%rsp); popfq" ::
          : "rax", "rcx", "r11", "cc", "memory");
  check(seen_count - before == 4 + 2 + 3);
  seen_count = before;
  for (int i = 0; i < seen_count; ++i) {
    check(seen[i].code == TRAP_TRACE && seen[i].rip > reinterpret_cast<uint64_t>(step_from) &&
          seen[i].rip <= reinterpret_cast<uint64_t>(step_to) && seen[i].address == seen[i].rip);
  }
  raises_trap_flag(false);
}

void clear_alignment(int signal, siginfo_t* info, void* context) {
  asm volatile("pushfq; andl $~0x40000, (%%rsp); popfq" ::: "cc", "memory");
  check(signal == SIGBUS && info->si_code == BUS_ADRALN);
  reg(context, REG_EFL) &= ~0x40000;
  counted = counted + 1;
}

void alignment() {
  handle(SIGBUS, clear_alignment);
  alignas(8) char bytes[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  uint64_t word = 0;
  asm volatile("pushfq; orl $0x40000, (%%rsp); popfq; movq 1(%1), %0" : "=r"(word) : "r"(bytes) : "cc", "memory");
  check(counted == 1 && word == 0x0908070605040302);
}

// --- waiting ---

pid_t start_sender(int signal, int times, int pause_us = 300) {
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < times; ++i) {
      usleep(static_cast<useconds_t>(pause_us));
      kill(parent, signal);
    }
    _exit(0);
  }
  return child;
}

void waits() {
  const sigset_t usr1 = set_of({SIGUSR1}), none = set_of({});
  sigprocmask(SIG_BLOCK, &usr1, nullptr);
  handle(SIGUSR1, count);
  const int poller = epoll_create1(0);
  int expected = 0;
  for (int i = 0; i < 40; ++i) {
    const pid_t child = start_sender(SIGUSR1, 1);
    int r = 0;
    switch (i % 4) {
      case 0: r = sigsuspend(&none); break;
      case 1: r = ppoll(nullptr, 0, nullptr, &none); break;
      case 2: r = pselect(0, nullptr, nullptr, nullptr, nullptr, &none); break;
      default: {
        epoll_event event;
        r = epoll_pwait(poller, &event, 1, -1, &none);
      }
    }
    check(r == -1 && errno == EINTR && counted == ++expected && blocked(SIGUSR1));
    check(waitpid(child, nullptr, 0) == child);
  }
}

void descriptors() {
  const sigset_t two = set_of({SIGUSR1, SIGRTMIN});
  sigprocmask(SIG_BLOCK, &two, nullptr);
  const int signals = signalfd(-1, &two, SFD_NONBLOCK);
  for (int i = 0; i < 10; ++i) {
    sigval value{};
    value.sival_int = i;
    check(sigqueue(getpid(), SIGRTMIN, value) == 0);
  }
  raise(SIGUSR1);
  signalfd_siginfo info{};
  check(read(signals, &info, sizeof info) == sizeof info && info.ssi_signo == SIGUSR1);
  for (int i = 0; i < 10; ++i) check(read(signals, &info, sizeof info) == sizeof info && info.ssi_int == i);
  check(read(signals, &info, sizeof info) == -1 && errno == EAGAIN);
  const int timer = timerfd_create(CLOCK_MONOTONIC, 0);
  itimerspec soon{{0, 1000000}, {0, 1000000}};
  check(timerfd_settime(timer, 0, &soon, nullptr) == 0);
  uint64_t ticks = 0, more = 0;
  while (ticks < 5) {
    check(read(timer, &more, sizeof more) == sizeof more);
    ticks += more;
  }
}

volatile pid_t timer_thread;
void count_here(int, siginfo_t* info, void*) {
  check(info->si_code == SI_TIMER && info->si_value.sival_int == 77);
  timer_thread = static_cast<pid_t>(syscall(SYS_gettid));
  counted = counted + 1;
}

void timers() {
  handle(SIGRTMIN + 1, count_here);
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGRTMIN + 1;
  event.sigev_value.sival_int = 77;
  event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
  timer_t timer;
  check(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
  itimerspec often{{0, 200000}, {0, 200000}};
  check(timer_settime(timer, 0, &often, nullptr) == 0);
  while (counted < 50) {
  }
  timer_delete(timer);
  check(timer_thread == getpid());
  counted = 0;
  handle(SIGPROF, count);
  handle(SIGVTALRM, count);
  itimerval every{{0, 1000}, {0, 1000}};
  setitimer(ITIMER_PROF, &every, nullptr);
  setitimer(ITIMER_VIRTUAL, &every, nullptr);
  while (counted < 10) {
  }
  itimerval never{};
  setitimer(ITIMER_PROF, &never, nullptr);
  setitimer(ITIMER_VIRTUAL, &never, nullptr);
}

volatile int next_value;
void in_order(int, siginfo_t* info, void*) {
  check(info->si_value.sival_int == next_value && info->si_code == SI_QUEUE && info->si_pid == getpid());
  next_value = next_value + 1;
}

void queued() {
  handle(SIGRTMIN, in_order);
  const sigset_t set = set_of({SIGRTMIN});
  for (int round = 0; round < 3; ++round) {
    next_value = 0;
    if (round < 2) sigprocmask(SIG_BLOCK, &set, nullptr);
    for (int i = 0; i < 1000; ++i) {
      sigval value{};
      value.sival_int = i;
      check(sigqueue(getpid(), SIGRTMIN, value) == 0);
    }
    sigprocmask(SIG_UNBLOCK, &set, nullptr);
    check(next_value == 1000);
  }
}

// --- threads ---

__thread volatile int mine;
volatile int total;
void count_mine(int, siginfo_t*, void*) {
  mine = mine + 1;
  __atomic_fetch_add(const_cast<int*>(&total), 1, __ATOMIC_SEQ_CST);
}

constexpr int storm_threads = 4, storm_signals = 500;
pthread_t storm[storm_threads];
pthread_barrier_t all_there;

void* storming(void* which) {
  const int self = static_cast<int>(reinterpret_cast<intptr_t>(which));
  pthread_barrier_wait(&all_there);
  for (int i = 0; i < storm_signals; ++i) {
    sigval value{};
    value.sival_int = i;
    while (pthread_sigqueue(storm[(self + 1 + i) % storm_threads], SIGRTMIN, value) == EAGAIN) sched_yield();
  }
  pthread_barrier_wait(&all_there);
  // A signal that was sent to a thread arrives by its next system call at the latest.
  usleep(0);
  return reinterpret_cast<void*>(static_cast<intptr_t>(mine));
}

void storms() {
  handle(SIGRTMIN, count_mine);
  pthread_barrier_init(&all_there, nullptr, storm_threads);
  for (intptr_t i = 0; i < storm_threads; ++i) pthread_create(&storm[i], nullptr, storming, reinterpret_cast<void*>(i));
  intptr_t sum = 0;
  for (const pthread_t thread : storm) {
    void* got = nullptr;
    pthread_join(thread, &got);
    sum += reinterpret_cast<intptr_t>(got);
  }
  check(total == storm_threads * storm_signals && sum == total);
}

void many() {
  handle(SIGUSR1, count);
  const pid_t self = getpid(), thread = static_cast<pid_t>(syscall(SYS_gettid));
  for (int i = 0; i < 200000; ++i) syscall(SYS_tgkill, self, thread, SIGUSR1);
  check(counted == 200000);
}

// --- signals that the engine needs itself ---

constexpr int of_faults[] = {SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV};

/// Sent while they are blocked, they are pending, as everybody can see.
void pending() {
  const sigset_t set = set_of({SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV});
  sigprocmask(SIG_BLOCK, &set, nullptr);
  for (const int signal : of_faults) handle(signal, count);
  for (const int signal : of_faults) {
    const sigset_t one = set_of({signal});
    sigset_t waiting;
    check(kill(getpid(), signal) == 0);
    check(sigpending(&waiting) == 0 && sigismember(&waiting, signal) == 1);
    int got = 0;
    check(sigwait(&one, &got) == 0 && got == signal);
    check(sigpending(&waiting) == 0 && sigismember(&waiting, signal) == 0);
    sigval value{};
    value.sival_int = 5;
    check(sigqueue(getpid(), signal, value) == 0);
    siginfo_t info{};
    const timespec second{1, 0};
    check(sigtimedwait(&one, &info, &second) == signal && info.si_value.sival_int == 5 && info.si_code == SI_QUEUE);
    const timespec at_once{0, 0};
    check(sigtimedwait(&one, &info, &at_once) == -1 && errno == EAGAIN);
    const int descriptor = signalfd(-1, &one, SFD_NONBLOCK);
    check(raise(signal) == 0);
    pollfd ready{descriptor, POLLIN, 0};
    check(poll(&ready, 1, 0) == 1);
    signalfd_siginfo read_info{};
    check(read(descriptor, &read_info, sizeof read_info) == sizeof read_info &&
          read_info.ssi_signo == static_cast<uint32_t>(signal) && read_info.ssi_code == SI_TKILL);
    check(poll(&ready, 1, 0) == 0);
    close(descriptor);
  }
  check(counted == 0);
  // From another process, while this one waits for it; and unblocked, to the handler.
  const sigset_t segv = set_of({SIGSEGV});
  const pid_t child = start_sender(SIGSEGV, 1, 20000);
  int got = 0;
  check(sigwait(&segv, &got) == 0 && got == SIGSEGV);
  waitpid(child, nullptr, 0);
  raise(SIGFPE);
  check(counted == 0);
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
  check(counted == 1);
  // A blocked fault of the process itself kills it.
  const pid_t victim = fork();
  if (victim == 0) {
    sigprocmask(SIG_BLOCK, &set, nullptr);
    fault();
    _exit(0);
  }
  int status = 0;
  waitpid(victim, &status, 0);
  check(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

/// argv[2] "again": checks the state that the previous program image has left.
void inherited(bool again, char* path) {
  const sigset_t set = set_of({SIGTRAP, SIGSEGV, SIGUSR1});
  if (again) {
    for (const int signal : {SIGTRAP, SIGSEGV, SIGUSR1}) check(blocked(signal));
    check(!blocked(SIGUSR2));
    sigset_t waiting;
    sigpending(&waiting);
    check(sigismember(&waiting, SIGSEGV) == 1);
    struct sigaction now {};
    sigaction(SIGFPE, nullptr, &now);
    check(now.sa_handler == SIG_IGN);
    return;
  }
  sigprocmask(SIG_BLOCK, &set, nullptr);
  signal(SIGFPE, SIG_IGN);
  raise(SIGSEGV);
  execl(path, path, "inherited", "again", nullptr);
  check(false);
}

/// A shell and its job on a terminal: background reads stop it, the shell brings it to the foreground and it continues.
void jobs() {
  const int master = posix_openpt(O_RDWR | O_NOCTTY);
  check(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
  char name[64];
  check(ptsname_r(master, name, sizeof name) == 0);
  int ready[2];
  check(pipe(ready) == 0);
  const pid_t shell = fork();
  if (shell == 0) {
    setsid();
    const int terminal = open(name, O_RDWR);
    signal(SIGTTOU, SIG_IGN);
    const pid_t job = fork();
    if (job == 0) {
      setpgid(0, 0);
      signal(SIGTTOU, SIG_DFL);
      char byte = 0;
      _exit(read(terminal, &byte, 1) == 1 && byte == 'x' ? 33 : 34);
    }
    setpgid(job, job);
    int status = 0;
    check(waitpid(job, &status, WUNTRACED) == job && WIFSTOPPED(status) && WSTOPSIG(status) == SIGTTIN);
    check(tcsetpgrp(terminal, job) == 0);
    kill(-job, SIGCONT);
    check(waitpid(job, &status, WCONTINUED) == job && WIFCONTINUED(status));
    kill(job, SIGTSTP);
    check(waitpid(job, &status, WUNTRACED) == job && WSTOPSIG(status) == SIGTSTP);
    kill(job, SIGCONT);
    check(waitpid(job, &status, WCONTINUED) == job && WIFCONTINUED(status));
    _exit(write(ready[1], "r", 1) == 1 && waitpid(job, &status, 0) == job && WEXITSTATUS(status) == 33 ? 0 : 1);
  }
  char byte = 0;
  check(read(ready[0], &byte, 1) == 1 && write(master, "x\n", 2) == 2);
  int status = 0;
  check(waitpid(shell, &status, 0) == shell && status == 0);
}

}  // namespace

int main(int argc, char** argv) {
  const struct {
    const char* name;
    void (*run)();
  } all[] = {
      {"nested", nested}, {"resets", resets}, {"stacks", stacks},       {"jumps", jumps}, {"contexts", contexts},
      {"faults", faults}, {"steps", steps},   {"alignment", alignment}, {"waits", waits}, {"descriptors", descriptors},
      {"timers", timers}, {"queued", queued}, {"storms", storms},       {"many", many},   {"pending", pending},
      {"jobs", jobs}};
  if (argc > 1 && strcmp(argv[1], "inherited") == 0) {
    inherited(argc > 2, argv[0]);
    return 0;
  }
  for (const auto& one : all) {
    if (argc < 2 || strcmp(argv[1], one.name) != 0) continue;
    one.run();
    return 0;
  }
  return 99;
}
