// Starts the measured program and reports how it ends.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/linux/descriptor.hpp"
#include "tally/linux/machine/time_stamp.hpp"
#include "tally/linux/process/conditions.hpp"
#include "tally/linux/process/received_signals.hpp"
#include "tally/linux/process/usage.hpp"

namespace tally::linux {

/// What a backend does in the child between fork and execve. Both functions run in the forked child and must be
/// async-signal-safe. If an execve fails, they are called in pairs: before, after; before, … (a script without `#!` is
/// tried again with /bin/sh).
struct ChildHooks {
  void* context = nullptr;
  /// Called before each execve; signals already have the program's settings.
  void (*before_exec)(void* context) = nullptr;
  /// Called after an execve that failed with `os_errno`.
  void (*after_failed_exec)(void* context, int os_errno) = nullptr;
};

/// How a program ended, and its usage since its execve.
struct Ended {
  int wait_status = 0;  ///< from wait4(2)
  Usage usage;
};

/// A wait status as exit code and signal.
struct Exit {
  int code = 0;               ///< as in a shell: 128 + signal for a killed process
  std::optional<int> signal;  ///< signal that killed it
};

/// A child that has ended, or a traced process that has stopped.
struct Change {
  pid_t process = 0;
  int wait_status = 0;
  bool stopped = false;
  rusage statistics{};
};

/// Returns the next child that ended or stopped; nothing if there is none. Never blocks.
std::optional<Change> next_change();

/// Converts the wait status of an ended process.
Exit exit_of(int wait_status);

/// Whether the process's own timer killed it: SIGALRM.
bool is_killed_by_timer(int wait_status);

/// A started program. Can be moved, not copied. Destroying it does not affect the program.
class Program {
 public:
  /// Forks a child that executes `command`, found through PATH. Returns when the child exists; executed() reports
  /// whether its execve succeeds. Errors: not_found, not_executable; cannot_measure if fork fails, or if `conditions`
  /// cannot be met.
  static Result<Program> start(const std::vector<std::string>& command, Signals& signals, ChildHooks hooks = {},
                               Conditions conditions = {});

  pid_t pid() const { return pid_; }

  /// Returns when it was forked, or the time of begins_now().
  const Moment& started() const { return started_; }

  /// Makes its time begin now, for a child that a hook has held back.
  void begins_now() { started_ = this_moment(); }

  /// Blocks until execve has succeeded, or has failed and the child has ended. A traced child must be continued first.
  /// Errors: not_found, not_executable; reported once, a further call succeeds.
  Result<void> executed();

  /// Returns how it ended; nothing while it runs. Never blocks. Errors: cannot_measure if another thread or function
  /// has reaped it.
  Result<std::optional<Ended>> ended();

  /// Converts the result of a wait4(2) for this program, for callers that reap it: its usage since the execve.
  Ended ended_with(int wait_status, const rusage& statistics) const;

 private:
  Program() = default;

  std::string path_;
  pid_t pid_ = 0;
  Moment started_;
  Descriptor report_;
  Usage before_exec_;
};

enum class End { ask, kill };

/// Sends SIGTERM or SIGKILL to a process.
void end_process(pid_t process, End how);

}  // namespace tally::linux
