// stepper [--json FILE] [--every N --rows FILE] [--aslr] [--no-vdso] [--limit SECONDS] PROGRAM [ARGUMENT…]: runs a
// program one instruction at a time and counts.
#include <elf.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string_view>

#include "programs/stepper/stepper_counts.hpp"
#include "programs/stepper/tracee.hpp"

namespace {

using tally::stepper::Counts;
using tally::stepper::DecodeCache;
using tally::stepper::Rows;
using tally::stepper::Tracee;

constexpr int own_failure = 125;

struct Options {
  const char* json = nullptr;
  const char* rows = nullptr;
  uint64_t every = 0;
  unsigned limit = 0;  ///< seconds after which SIGALRM ends the stepper, and the kernel the program; 0: none
  bool aslr = false;
  bool hides_vdso = false;
  char** command = nullptr;
};

Options parse(int argc, char** argv) {
  Options options;
  int i = 1;
  for (; i < argc && std::string_view(argv[i]).starts_with("--"); ++i) {
    const std::string_view option = argv[i];
    if (option == "--") {
      ++i;
      break;
    }
    if (option == "--json" && i + 1 < argc) {
      options.json = argv[++i];
    } else if (option == "--every" && i + 1 < argc) {
      options.every = std::strtoull(argv[++i], nullptr, 10);
    } else if (option == "--limit" && i + 1 < argc) {
      options.limit = static_cast<unsigned>(std::strtoul(argv[++i], nullptr, 10));
    } else if (option == "--rows" && i + 1 < argc) {
      options.rows = argv[++i];
    } else if (option == "--aslr") {
      options.aslr = true;
    } else if (option == "--no-vdso") {
      options.hides_vdso = true;
    } else {
      return {};
    }
  }
  if (i < argc) options.command = argv + i;
  return options;
}

constexpr int exec_stop = SIGTRAP | (PTRACE_EVENT_EXEC << 8);

/// Hides the vdso from a program that is stopped in its execve. Its code starts again if the kernel has updated the
/// clock meanwhile, which is likely when it is stepped.
void hide_vdso(pid_t process) {
  constexpr long code_segment_64bit = 0x33;
  if (ptrace(PTRACE_PEEKUSER, process, offsetof(user, regs.cs), nullptr) != code_segment_64bit) return;
  const auto word = [process](uint64_t address) { return ptrace(PTRACE_PEEKDATA, process, address, nullptr); };
  // The stack that the kernel prepared: count, arguments, 0, environment, 0, auxiliary vector.
  auto at = static_cast<uint64_t>(ptrace(PTRACE_PEEKUSER, process, offsetof(user, regs.rsp), nullptr));
  at += sizeof(long) * (static_cast<uint64_t>(word(at)) + 2);
  errno = 0;
  while (word(at) != 0 && errno == 0) at += sizeof(long);
  for (at += sizeof(long); word(at) != AT_NULL && errno == 0; at += 2 * sizeof(long))
    if (word(at) == AT_SYSINFO_EHDR) ptrace(PTRACE_POKEDATA, process, at, long{AT_IGNORE});
}

struct Ending {
  int exit = 0;
  int signal = 0;
};

class Run {
 public:
  Run(pid_t root, Rows rows, bool hides_vdso) : root_(root), rows_(rows), hides_vdso_(hides_vdso) {}

  /// Resumes the root process, which is stopped in its execve.
  void start() {
    if (hides_vdso_) hide_vdso(root_);
    tracee(root_).resume(0);
  }

  void drive() {
    int status = 0;
    for (pid_t tid = 0; (tid = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR;) {
      if (tid > 0) take(tid, status);
    }
  }

  const Counts& counts() const { return counts_; }
  const Ending& ending() const { return ending_; }
  bool steps_itself() const { return steps_itself_; }

 private:
  /// A new one if the thread has none.
  Tracee& tracee(pid_t tid) {
    const auto entry = tracees_.find(tid);
    return entry != tracees_.end() ? entry->second : tracees_.emplace(tid, Tracee(tid, cache_, rows_)).first->second;
  }

  void take(pid_t tid, int status) {
    const auto found = tracees_.find(tid);
    if (!WIFSTOPPED(status)) {
      if (found != tracees_.end()) {
        found->second.ended();
        counts_ += found->second.counts();
        steps_itself_ |= found->second.steps_itself();
        tracees_.erase(found);
      }
      if (tid == root_)
        ending_ = {WIFEXITED(status) ? WEXITSTATUS(status) : 0, WIFSIGNALED(status) ? WTERMSIG(status) : 0};
      return;
    }
    if (found == tracees_.end()) {
      tracee(tid).resume(0);
      return;
    }
    // fork, clone and exec events arrive in the middle of the system call.
    if (status >> 16 != 0) {
      if (hides_vdso_ && status >> 8 == exec_stop) hide_vdso(tid);
      unsigned long created = 0;
      if (status >> 8 != exec_stop && ptrace(PTRACE_GETEVENTMSG, tid, nullptr, &created) == 0)
        tracee(static_cast<pid_t>(created)).inherit(found->second);
      found->second.go_on();
      return;
    }
    const int signal = found->second.stopped(status);
    found->second.resume(signal);
  }

  pid_t root_;
  DecodeCache cache_;
  Rows rows_;
  bool hides_vdso_;
  std::map<pid_t, Tracee> tracees_;
  Counts counts_;
  Ending ending_;
  bool steps_itself_ = false;
};

void print(FILE* file, const Run& run) {
  const Counts& counts = run.counts();
  const Ending& ending = run.ending();
  const auto line = [file](const char* name, uint64_t value) {
    std::fprintf(file, "\"%s\": %llu, ", name, static_cast<unsigned long long>(value));
  };
  std::fputc('{', file);
  line("instructions", counts.instructions);
  line("conditional", counts.conditional);
  line("taken", counts.taken);
  line("direct_jumps", counts.direct_jumps);
  line("indirect_jumps", counts.indirect_jumps);
  line("direct_calls", counts.direct_calls);
  line("indirect_calls", counts.indirect_calls);
  line("returns", counts.returns);
  line("far", counts.far);
  line("loads", counts.loads);
  line("stores", counts.stores);
  line("prefetches", counts.prefetches);
  line("steps_itself", run.steps_itself() ? 1 : 0);
  std::fprintf(file, "\"exit\": %d, \"signal\": %d}\n", ending.exit, ending.signal);
}

[[noreturn]] void run_traced(const Options& options) {
  if (!options.aslr) personality(ADDR_NO_RANDOMIZE);
  ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
  raise(SIGSTOP);
  execvp(options.command[0], options.command);
  const int error = errno;
  std::fprintf(stderr, "stepper: %s: %s\n", options.command[0], std::strerror(error));
  _exit(error == ENOENT ? 127 : 126);
}

/// Keeps stepper and program on one CPU: they take turns, and a switch costs a third of waking another CPU.
void stay_on_one_cpu() {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(static_cast<size_t>(sched_getcpu()), &cpus);
  sched_setaffinity(0, sizeof cpus, &cpus);
}

/// Continues the child until its exec succeeds. Returns false if it does not.
bool reach_program(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  ptrace(PTRACE_SETOPTIONS, child, nullptr,
         PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK);
  ptrace(PTRACE_CONT, child, nullptr, nullptr);
  waitpid(child, &status, 0);
  return WIFSTOPPED(status) && status >> 8 == exec_stop;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  if (options.command == nullptr) {
    std::fprintf(stderr,
                 "usage: stepper [--json FILE] [--every N --rows FILE] [--aslr] [--no-vdso] [--limit SECONDS] PROGRAM "
                 "[ARGUMENT...]\n");
    return own_failure;
  }
  stay_on_one_cpu();
  const pid_t child = fork();
  if (child == 0) run_traced(options);
  if (child < 0 || !reach_program(child)) {
    std::fprintf(stderr, "stepper: cannot run %s\n", options.command[0]);
    return own_failure;
  }
  Rows rows;
  if (options.rows != nullptr && options.every > 0) {
    rows = {std::fopen(options.rows, "w"), options.every};
    if (rows.file == nullptr) {
      std::perror(options.rows);
      return own_failure;
    }
  }
  Run run(child, rows, options.hides_vdso);
  alarm(options.limit);
  run.start();
  run.drive();
  if (rows.file != nullptr) std::fclose(rows.file);
  FILE* file = options.json != nullptr ? std::fopen(options.json, "w") : stderr;
  if (file == nullptr) {
    std::perror(options.json);
    return own_failure;
  }
  print(file, run);
  if (options.json != nullptr) std::fclose(file);
  return run.ending().signal != 0 ? 128 + run.ending().signal : run.ending().exit;
}
