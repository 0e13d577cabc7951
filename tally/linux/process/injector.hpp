// Taking a program over at the end of its execve, by ptrace, and letting it go at once.
#pragma once

#include <sys/types.h>
#include <sys/user.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace tally::linux {

/// What a program is given before its first instruction runs: a file mapped at a fixed address, and where to go on.
struct Injection {
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;
  int fd = 0;               ///< of the file: its place among the descriptors that the program inherits
  std::uint64_t entry = 0;  ///< called with rdi = the program's first instruction, rsi = its stack pointer,
                            ///< rdx = the first of those descriptors, rcx and r8 = the arguments
  std::array<std::uint64_t, 2> arguments{};
};

/// Attaches to processes that are about to call execve, and lets the new program start in the injected code. A process
/// is traced only while its execve runs: three stops, some 0.1 ms. One state per process, never a blocking wait.
class Injector {
 public:
  explicit Injector(Injection injection) : injection_(injection) {}

  /// Attaches to a thread that waits for it; `first` is the first descriptor that its program will inherit. False where
  /// the kernel refuses (seccomp, another tracer, Yama, rights).
  bool attach(pid_t thread, int first);

  /// What a stop that wait4(2) reported meant.
  struct Seen {
    enum What { nothing, injected, failed_exec, refused } what = nothing;
    std::string reason;  ///< for refused: why the program runs natively
  };

  /// Goes one step on with a process that has stopped. `status` is wait4's.
  Seen stopped(pid_t process, int status);

  /// Forgets a process that has ended.
  void ended(pid_t process) { under_way_.erase(process); }

 private:
  struct Exec {
    enum Stage { attached, in_exec, mapping } stage = attached;
    int first = 0;  ///< inherited descriptor
    user_regs_struct registers{};
    std::uint64_t blocked = 0;        ///< signals: a step's trap unblocks SIGTRAP
    std::uint64_t instruction = 0;    ///< where the system call is executed
    std::optional<long> word_before;  ///< what stood there, where it was not the vdso's own
  };

  Seen begin_mapping(pid_t process, Exec& exec);
  Seen finish(pid_t process, Exec& exec);
  Seen refuse(pid_t process, std::string reason);

  Injection injection_;
  std::map<pid_t, Exec> under_way_;
};

}  // namespace tally::linux
