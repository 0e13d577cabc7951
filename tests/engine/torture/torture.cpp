// Threads that write, run, patch and free code while timers fire, others fork and exec, and others begin and end. Every
// result is checked where it is made, so that there is nothing to compare but the exit code and one line.
//
// usage: torture SECONDS SEED WAY      WAY: fork or dual (code that is mapped twice, and no fork but vfork)
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>

#include "tests/engine/torture/code.hpp"

namespace {

using torture::call;
using torture::Function;
using torture::Random;

constexpr size_t page = 4096;
constexpr int both = PROT_READ | PROT_WRITE, run = PROT_READ | PROT_EXEC;

std::atomic<bool> over;
bool dual;
uint64_t seed;
std::atomic<uint64_t> rounds_made, rounds_summed, signals_taken, signals_summed, faults_made, faults_taken;

[[noreturn]] void fail(int line) {
  char text[] = "failed in line 0000\n";
  for (int i = 18; i > 14; --i, line /= 10) text[i] = static_cast<char>('0' + line % 10);
  if (write(2, text, sizeof text - 1) < 0) _exit(3);
  _exit(1);
}
void check(bool holds, int line = __builtin_LINE()) {
  if (!holds) fail(line);
}

unsigned char* map(size_t bytes, int protection, int flags = MAP_PRIVATE | MAP_ANONYMOUS, int file = -1) {
  void* at = mmap(nullptr, bytes, protection, flags, file, 0);
  check(at != MAP_FAILED);
  return static_cast<unsigned char*>(at);
}

// --- signals --------------------------------------------------------------------------------------------------------

/// A thread's handler runs this: code of its own, which it patches itself every now and then.
struct InHandler {
  unsigned char* code;
  Function function;
  Random random;
  uint64_t runs = 0;
};
thread_local InHandler* in_handler;

void on_timer(int, siginfo_t*, void*) {
  InHandler* mine = in_handler;
  if (mine == nullptr) return;
  const int error = errno;
  if (++mine->runs % 8 == 0) {
    mine->function = Function::random(mine->random);
    mine->function.write(mine->code);
  }
  const uint32_t x = mine->random();
  check(call(mine->code, x) == mine->function(x));
  signals_taken++;
  errno = error;
}

constexpr uint64_t poison = 0x071000000000;  // an address that is never mapped

/// A load that faults receives its value here.
void on_fault(int, siginfo_t* info, void* context) {
  auto* registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  check(reinterpret_cast<uint64_t>(info->si_addr) == poison && registers[REG_RBX] == static_cast<long>(poison));
  static uint64_t value = 4711;
  registers[REG_RBX] = reinterpret_cast<long>(&value);
  faults_taken++;
}

void fault() {
  uint64_t value = 0;
  asm volatile("mov %1, %%rbx\n\t mov (%%rbx), %0" : "=r"(value) : "r"(poison) : "rbx", "memory");
  check(value == 4711);
  faults_made++;
}

/// A timer of the calling thread's own.
timer_t start_timer(long nanoseconds) {
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGRTMIN;
  event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
  timer_t timer{};
  check(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
  const itimerspec every = {{0, nanoseconds}, {0, nanoseconds}};
  check(timer_settime(timer, 0, &every, nullptr) == 0);
  return timer;
}

/// Signals to this thread run code from here to the end of the scope.
class SignalScope {
 public:
  explicit SignalScope(uint64_t number) : mine_{map(page, both | PROT_EXEC), {}, Random(number)} {
    mine_.function = Function::random(mine_.random);
    mine_.function.write(mine_.code);
    in_handler = &mine_;
    timer_ = start_timer(400000 + static_cast<long>(mine_.random.below(600000)));
  }
  ~SignalScope() {
    timer_delete(timer_);
    in_handler = nullptr;
    signals_summed += mine_.runs;
    munmap(mine_.code, page);
  }

 private:
  InHandler mine_;
  timer_t timer_{};
};

// --- code -----------------------------------------------------------------------------------------------------------

/// A page of functions, stored in one of the ways that programs use for code.
class Page {
 public:
  explicit Page(Random& random) : way_(static_cast<Mapping>(random.below(dual ? ways : mapped_twice))) {
    if (way_ == mapped_twice) {
      const int file = memfd_create("torture", MFD_CLOEXEC);
      check(file >= 0 && ftruncate(file, page) == 0);
      writable_ = map(page, both, MAP_SHARED, file);
      executable_ = map(page, run, MAP_SHARED, file);
      close(file);
    } else {
      writable_ = executable_ = map(page, way_ == always_writable ? both | PROT_EXEC : both);
    }
  }
  ~Page() {
    munmap(executable_, page);
    if (writable_ != executable_) munmap(writable_, page);
  }

  void write(Random& random) {
    const uint32_t i = random.below(count);
    if (way_ == one_or_the_other) check(mprotect(writable_, page, both) == 0);
    functions_[i] = Function::random(random);
    functions_[i].write(writable_ + size_t{i} * place);
    there_[i] = true;
    if (way_ == one_or_the_other) check(mprotect(executable_, page, run) == 0);
  }

  void run_one(Random& random) const {
    const uint32_t i = random.below(count);
    if (!there_[i]) return;
    const uint32_t x = random();
    check(call(executable_ + size_t{i} * place, x) == functions_[i](x));
  }

  void throw_away() {
    if (way_ == mapped_twice) return;
    if (way_ == one_or_the_other) mprotect(writable_, page, both);
    check(madvise(writable_, page, MADV_DONTNEED) == 0);
    for (bool& there : there_) there = false;
  }

 private:
  enum Mapping : uint32_t { always_writable, one_or_the_other, mapped_twice, ways };
  static constexpr uint32_t place = 256, count = page / place;
  static_assert(Function::room <= place);
  Mapping way_;
  unsigned char* writable_;
  unsigned char* executable_;
  Function functions_[count];
  bool there_[count] = {};
};

void write_run_and_free(Random& random) {
  Page mine(random);
  for (int i = 0; i < 60; ++i) {
    mine.write(random);
    for (int k = 0; k < 4; ++k) mine.run_one(random);
    if (random.below(40) == 0) mine.throw_away();
    if (random.below(20) == 0) fault();
  }
}

/// One page for all: each thread patches and runs functions of its own between those of the others.
unsigned char* shared_page;
constexpr int patchers = 3;
void patch_shared(Random& random, int number) {
  unsigned char* at = shared_page + size_t{1024} * static_cast<unsigned>(number) + size_t{256} * random.below(4);
  const Function function = Function::random(random);
  function.write(at);
  for (int i = 0; i < 10; ++i) {
    const uint32_t x = random();
    check(call(at, x) == function(x));
  }
}

void* patch(void* argument) {
  const int number = static_cast<int>(reinterpret_cast<long>(argument));
  SignalScope handling(seed + static_cast<uint64_t>(number) + 77);
  Random random(seed + static_cast<uint64_t>(number) + 1);
  uint64_t rounds = 0;
  for (; !over; ++rounds) {
    write_run_and_free(random);
    patch_shared(random, number);
    rounds_made++;
  }
  rounds_summed += rounds;
  return nullptr;
}

// --- processes and threads ------------------------------------------------------------------------------------------

void expect_end(pid_t child, int code) {
  check(child > 0);
  int status = 0;
  pid_t ended = 0;
  while ((ended = waitpid(child, &status, 0)) < 0 && errno == EINTR) {
  }
  check(ended == child && WIFEXITED(status) && WEXITSTATUS(status) == code);
}

void* make_processes(void*) {
  Random random(seed + 1234);
  const SignalScope handling(4321);
  for (uint32_t i = 0; !over; ++i) {
    static int code;
    code = static_cast<int>(random.below(100));
    if (dual || i % 2 == 0) {
      char number[16];
      snprintf(number, sizeof number, "%d", code);
      char name[] = "torture", exit_now[] = "exit";
      char* const words[] = {name, exit_now, number, nullptr};
      const pid_t child = vfork();  // NOLINT(clang-analyzer-security.insecureAPI.vfork): the call under test
      if (child == 0) {
        execv("/proc/self/exe", words);
        _exit(127);
      }
      expect_end(child, code);
      continue;
    }
    const uint64_t childs = random();
    const pid_t child = fork();
    if (child == 0) {
      Random own(childs);
      for (int k = 0; k < 3; ++k) write_run_and_free(own);
      _exit(code);
    }
    expect_end(child, code);
  }
  return nullptr;
}

void* live_shortly(void* argument) {
  auto* random = static_cast<Random*>(argument);
  Page mine(*random);
  for (int i = 0; i < 8; ++i) {
    mine.write(*random);
    mine.run_one(*random);
  }
  return argument;
}

void* make_threads(void*) {
  const SignalScope handling(999);
  Random random(seed + 555);
  while (!over) {
    constexpr int at_once = 4;
    pthread_t threads[at_once];
    Random seeds[at_once] = {Random(random()), Random(random()), Random(random()), Random(random())};
    for (int i = 0; i < at_once; ++i) check(pthread_create(&threads[i], nullptr, live_shortly, &seeds[i]) == 0);
    for (int i = 0; i < at_once; ++i) {
      void* result = nullptr;
      check(pthread_join(threads[i], &result) == 0 && result == &seeds[i]);
    }
  }
  return nullptr;
}

void handle(int signal, void (*handler)(int, siginfo_t*, void*), int flags) {
  struct sigaction action {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | flags;
  check(sigaction(signal, &action, nullptr) == 0);
}

void wait_until_over(int seconds) {
  timespec now{}, end{};
  clock_gettime(CLOCK_MONOTONIC, &end);
  end.tv_sec += seconds;
  do {
    const timespec pause = {0, 20000000};
    nanosleep(&pause, nullptr);
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while (now.tv_sec < end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && strcmp(argv[1], "exit") == 0) return atoi(argv[2]);
  if (argc != 4) return 99;
  seed = strtoul(argv[2], nullptr, 10);
  dual = strcmp(argv[3], "dual") == 0;
  shared_page = map(page, both | PROT_EXEC);
  handle(SIGRTMIN, on_timer, SA_RESTART);
  handle(SIGSEGV, on_fault, SA_NODEFER);
  // To whichever thread the kernel chooses, and on top of its own timer's handler.
  const itimerval often = {{0, 700}, {0, 700}};
  handle(
      SIGALRM, [](int, siginfo_t*, void*) {}, SA_RESTART);
  check(setitimer(ITIMER_REAL, &often, nullptr) == 0);
  pthread_t threads[patchers + 2];
  for (long i = 0; i < patchers; ++i)
    check(pthread_create(&threads[i], nullptr, patch, reinterpret_cast<void*>(i)) == 0);
  check(pthread_create(&threads[patchers], nullptr, make_processes, nullptr) == 0);
  check(pthread_create(&threads[patchers + 1], nullptr, make_threads, nullptr) == 0);
  wait_until_over(atoi(argv[1]));
  over = true;
  for (const pthread_t thread : threads) check(pthread_join(thread, nullptr) == 0);
  check(rounds_made == rounds_summed && rounds_made > 0);
  check(signals_taken == signals_summed && signals_taken > 0);
  check(faults_made == faults_taken && faults_made > 0);
  if (getenv("TORTURE_FIGURES") != nullptr) {
    fprintf(stderr, "%lu rounds, %lu signals, %lu faults\n", rounds_made.load(), signals_taken.load(),
            faults_taken.load());
  }
  puts("no difference");
  return 0;
}
