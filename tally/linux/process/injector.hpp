// Injects code into a program at the end of its execve, with ptrace, and detaches at once.
#pragma once

#include <sys/types.h>
#include <sys/user.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace tally::linux {

/// What is injected before a program's first instruction: a file mapped at a fixed address, and where to continue.
struct Injection {
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;
  int fd = 0;               ///< of the file: its index among the descriptors that the program inherits
  std::uint64_t entry = 0;  ///< called with rdi = the program's first instruction, rsi = its stack pointer, rdx = the
                            ///< first of those descriptors, rcx and r8 = the arguments
  std::array<std::uint64_t, 2> arguments{};
  std::optional<int> refusal_code = {};  ///< exit code of a program that cannot be injected; nothing: it runs natively
};

/// Attaches to processes that are about to call execve, and makes the new program start in the injected code. Traces a
/// process only during its execve: three stops, some 0.1 ms. Keeps one state per process and never blocks. With
/// `refusal_code`, a refused program ends instead of making its first system call, and so without any effect.
class Injector {
 public:
  explicit Injector(Injection injection) : injection_(injection) {}

  /// Attaches to a thread that waits for it. `first`: the first descriptor that its program will inherit. Returns false
  /// if the kernel refuses (seccomp, another tracer, Yama, permissions).
  bool attach(pid_t thread, int first);

  /// Meaning of a stop that wait4(2) reported.
  struct StopResult {
    enum Outcome { nothing, injected, failed_exec, refused } what = nothing;
    std::string reason;  ///< refused: why the program runs natively
  };

  /// Handles a stop of a process: the next step of the injection. `status`: from wait4.
  StopResult stopped(pid_t process, int status);

  /// Forgets a process that has ended.
  void ended(pid_t process) { under_way_.erase(process); }

 private:
  struct Exec {
    enum Stage { attached, in_exec, mapping, ending } stage = attached;
    int first = 0;  ///< inherited descriptor
    user_regs_struct registers{};
    std::uint64_t blocked = 0;        ///< blocked signals: the trap of a single step unblocks SIGTRAP
    std::uint64_t instruction = 0;    ///< address of the system call instruction
    std::optional<long> word_before;  ///< its original content, if it is not in the vdso
  };

  StopResult begin_mapping(pid_t process, Exec& exec);
  StopResult finish(pid_t process, Exec& exec);
  StopResult refuse(pid_t process, std::string reason);
  /// Turns the system call that the process begins into its exit, and detaches.
  void end(pid_t process);

  Injection injection_;
  std::map<pid_t, Exec> under_way_;
};

/// Replaces the limits of a process on address space and data (RLIMIT_AS, RLIMIT_DATA) by `changed` of each.
void change_memory_limits(pid_t process, std::uint64_t (*changed)(std::uint64_t));

}  // namespace tally::linux
