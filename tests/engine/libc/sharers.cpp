// Processes that share memory, one of which is killed: the others continue as if it had never existed.
//
//     sharers held KIND       one after the other, each while it holds one of the engine's locks (0 natively)
//     sharers random KIND N   N of them, at random moments while they create code, mappings and threads of control
//
// KIND: `vfork` kills a vfork child; `clone` a process with CLONE_VM; `parent` a process with threads, whose vfork
// child continues; `namespace`: the same, and that child begins a pid namespace.
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tally/engine/channel/count_request.hpp"

namespace {

using namespace tally::channel;

constexpr long last_held = held_limit - 1;

struct Shared {
  volatile int victim;  // the process to kill
  volatile int orphan, done;
};
Shared* shared;

/// New code at a new address; returns its result.
int make_code(int value) {
  auto* const code = static_cast<unsigned char*>(
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (code == MAP_FAILED) _exit(90);
  int sum = 0;
  for (int again = 0; again < 2; again++, value++) {
    code[0] = 0xb8;  // mov eax, value; ret
    memcpy(code + 1, &value, 4);
    code[5] = 0xc3;
    sum += reinterpret_cast<int (*)()>(code)() == value;
  }
  mprotect(code, 4096, PROT_READ | PROT_EXEC);
  sum += reinterpret_cast<int (*)()>(code)() == value - 1;
  munmap(code, 4096);
  return sum;
}

/// Work that always succeeds natively.
void work(int rounds) {
  for (int i = 0; i < rounds; i++)
    if (make_code(1000 + i) != 3) _exit(91);
}

[[noreturn]] void churn() {
  for (int i = 0;; i++) make_code(i);
}
void* churn_in_thread(void*) { churn(); }

/// Is killed while it holds that lock. Natively nobody answers.
[[noreturn]] void be_killed(long held) {
  prctl(static_cast<int>(ask_option), ask_killed, held, 0, 0);
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

long held_by_child;
int killed_child(void*) { be_killed(held_by_child); }
int churning_child(void*) { churn(); }

char* stack_end() {
  constexpr size_t bytes = 65536;
  return static_cast<char*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) + bytes;
}

void expect_killed(pid_t child) {
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL) _exit(92);
}

void kill_vfork_child(long held) {
  const pid_t child = vfork();
  if (child == 0) {
    if (held >= 0) be_killed(held);
    shared->victim = getpid();
    churn();
  }
  expect_killed(child);
}

void kill_clone(long held, unsigned pause_us) {
  held_by_child = held;
  char* const stack = stack_end();
  const pid_t child = clone(held >= 0 ? killed_child : churning_child, stack, CLONE_VM | SIGCHLD, nullptr);
  if (held < 0) {
    usleep(pause_us);
    kill(child, SIGKILL);
  }
  expect_killed(child);
}

void* killed_in_thread(void*) {
  while (shared->orphan == 0) usleep(100);
  be_killed(held_by_child);
}

/// A process with threads is killed before its vfork child has executed its program: the child continues. `begins`: in
/// a pid namespace of its own.
void kill_parent(long held, unsigned pause_us, bool begins) {
  shared->orphan = 0;
  shared->done = 0;
  held_by_child = held;
  const pid_t parent = fork();
  if (parent == 0) {
    pthread_t thread;
    for (int i = 0; i < (held >= 0 ? 1 : 3); i++)
      pthread_create(&thread, nullptr, held >= 0 ? killed_in_thread : churn_in_thread, nullptr);
    if (begins && unshare(CLONE_NEWPID) != 0) {
      shared->orphan = -1;
      for (;;) pause();
    }
    if (vfork() == 0) {
      shared->orphan = getpid();
      while (shared->done == 0) usleep(100);  // until the parent has ended
      work(10);
      shared->done = 2;
      _exit(0);
    }
    _exit(0);
  }
  while (shared->orphan == 0) usleep(100);
  if (shared->orphan == -1) {
    kill(parent, SIGKILL);
    _exit(94);
  }
  if (held < 0) {
    usleep(pause_us);
    kill(parent, SIGKILL);
  }
  expect_killed(parent);
  shared->done = 1;
  int status = 0;
  if (waitpid(begins ? -1 : shared->orphan, &status, 0) < 0 || status != 0 || shared->done != 2) _exit(93);
}

/// Kills the process in this slot, a random time after it started.
pid_t start_killer() {
  const pid_t killer = fork();
  if (killer != 0) return killer;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (unsigned random = 1;;) {
    while (shared->victim == 0) usleep(50);
    const pid_t victim = shared->victim;
    shared->victim = 0;
    random = random * 1103515245 + 12345;
    for (unsigned n = (random >> 16) % 40000; n > 0; n--) asm volatile("");
    kill(victim, SIGKILL);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  shared = static_cast<Shared*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const bool random = strcmp(argv[1], "random") == 0;
  const bool is_vfork = strcmp(argv[2], "vfork") == 0, is_clone = strcmp(argv[2], "clone") == 0;
  const long rounds = random && argc > 3 ? atol(argv[3]) : last_held + 1;
  const pid_t killer = random && is_vfork ? start_killer() : 0;
  for (long i = 0; i < rounds; i++) {
    const long held = random ? -1 : i;
    const unsigned pause_us = static_cast<unsigned>(200 + i * 137 % 1900);
    if (is_vfork)
      kill_vfork_child(held);
    else if (is_clone)
      kill_clone(held, pause_us);
    else
      kill_parent(held, pause_us, strcmp(argv[2], "namespace") == 0);
    work(3);
  }
  if (killer != 0) {
    kill(killer, SIGKILL);
    waitpid(killer, nullptr, 0);
  }
  printf("%ld rounds\n", rounds);
  return 0;
}
