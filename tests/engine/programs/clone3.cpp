// clone3 and what only it supports: cleared signal handlers, a pidfd for the child, a process ID that the caller chose;
// and what the kernel refuses.
#include "tests/engine/programs/bare.hpp"

namespace {

struct Arguments {
  uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid, set_tid_size, cgroup;
};

constexpr uint64_t vm = 0x100, sighand = 0x800, vfork_flag = 0x4000, pidfd_flag = 0x1000, parent_settid = 0x100000,
                   clear_sighand = 0x100000000;
constexpr uint64_t sigchld = 17;

volatile int handled = 0;
void count(int, bare::Info*, ucontext_t*) { handled = handled + 1; }

asm(R"(
# clone3_and(arguments, size, function): the child, on whatever stack, calls the function, which does not return.
        .globl clone3_and
clone3_and:
        movq %rdx, %r9
        movl $435, %eax
        syscall
        testq %rax, %rax
        jz 1f
        ret
1:      xorl %ebp, %ebp
        andq $-16, %rsp
        callq *%r9
        ud2
)");
extern "C" long clone3_and(const Arguments* arguments, size_t size, void (*function)());

int wait_for(long pid) {
  int status = -1;
  bare::check(bare::call(__NR_wait4, pid, bare::address(&status), 0, 0) == pid);
  return status;
}

/// The parent's actions as the child sees them: adds 1 if a handler is set, 2 if a signal is no longer ignored.
void report_actions() {
  using namespace bare;
  const bool left = action(sig_usr1).handler != nullptr || action(sig_segv).handler != nullptr;
  const bool lost = reinterpret_cast<long>(action(sig_usr2).handler) != 1;
  leave(40 + left + 2 * lost);
}

void die_by_default() {
  bare::raise(bare::sig_usr1);
  bare::leave(50);
}

void end() { bare::leave(60); }

void clears_handlers() {
  using namespace bare;
  handle(sig_usr1, count);
  handle(sig_segv, count);
  const Action ignore{reinterpret_cast<void*>(1), sa_restorer, restorer, 0};
  check(call(__NR_rt_sigaction, sig_usr2, address(&ignore), 0, 8) == 0);
  uint8_t* stack = map(65536, prot_read | prot_write);
  const uint64_t kinds[] = {0, vm | vfork_flag};
  for (const uint64_t kind : kinds) {
    Arguments a{};
    a.flags = kind | clear_sighand;
    a.exit_signal = sigchld;
    a.stack = reinterpret_cast<uint64_t>(stack);
    a.stack_size = 65536;
    check(wait_for(clone3_and(&a, sizeof a, report_actions)) == 40 << 8);
    check(wait_for(clone3_and(&a, sizeof a, die_by_default)) == sig_usr1);
  }
  // The parent's actions are unchanged.
  raise(sig_usr1);
  check(handled == 1);
}

void gives_descriptor_and_number() {
  using namespace bare;
  volatile int descriptor = -1, number = -1;
  Arguments a{};
  a.flags = pidfd_flag | parent_settid;
  a.pidfd = reinterpret_cast<uint64_t>(&descriptor);
  a.parent_tid = reinterpret_cast<uint64_t>(&number);
  a.exit_signal = sigchld;
  const long pid = clone3_and(&a, sizeof a, end);
  check(pid > 0 && number == pid && descriptor > 2);
  check(wait_for(pid) == 60 << 8);
  check(call(__NR_close, descriptor) == 0);
}

/// Without the privilege the kernel refuses a process ID; one that is in use, too.
void takes_a_chosen_number() {
  using namespace bare;
  int wanted = 0;
  Arguments a{};
  a.exit_signal = sigchld;
  a.set_tid = reinterpret_cast<uint64_t>(&wanted);
  a.set_tid_size = 1;
  check(clone3_and(&a, sizeof a, end) == -22);
  wanted = static_cast<int>(call(__NR_getpid));
  const long taken = clone3_and(&a, sizeof a, end);
  check(taken == -17 || taken == -1);
  if (taken == -1) return;
  const long free = call(__NR_fork);
  if (free == 0) leave(0);
  wait_for(free);
  wanted = static_cast<int>(free);
  check(clone3_and(&a, sizeof a, end) == free);
  check(wait_for(free) == 60 << 8);
}

void is_refused() {
  using namespace bare;
  Arguments a{};
  a.exit_signal = sigchld;
  check(clone3_and(&a, 56, end) == -22);
  check(clone3_and(&a, 5000, end) == -7);
  check(clone3_and(nullptr, sizeof a, end) == -14);
  struct {
    Arguments known;
    uint64_t more;
  } longer = {a, 1};
  check(clone3_and(&longer.known, sizeof longer, end) == -7);
  longer.more = 0;
  const long pid = clone3_and(&longer.known, sizeof longer, end);
  check(pid > 0 && wait_for(pid) == 60 << 8);
  a.stack = 4096;
  check(clone3_and(&a, sizeof a, end) == -22);
  a = {};
  a.flags = vm | sighand | clear_sighand;
  check(clone3_and(&a, sizeof a, end) == -22);
  a = {};
  a.exit_signal = 65;
  check(clone3_and(&a, sizeof a, end) == -22);
}

}  // namespace

extern "C" int program(int, char**, char**) {
  clears_handlers();
  gives_descriptor_and_number();
  takes_a_chosen_number();
  is_refused();
  return 0;
}
