// Starting the measured program, and seeing how it ends.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/linux/descriptor.hpp"
#include "tally/linux/machine/time_stamp.hpp"
#include "tally/linux/process/conditions.hpp"
#include "tally/linux/process/signals.hpp"
#include "tally/linux/process/usage.hpp"

namespace tally::linux {

/// What a way of counting does in the child between fork and execve. Both run in the forked child and may only do what
/// is async-signal-safe. They come in pairs where an execve fails: before, after; before, … (a script without `#!` is
/// tried a second time through /bin/sh).
struct ChildHooks {
  void* context = nullptr;
  /// Right before each execve; signals are already as the program will have them.
  void (*before_exec)(void* context) = nullptr;
  /// Right after an execve that failed with `os_errno`.
  void (*after_failed_exec)(void* context, int os_errno) = nullptr;
};

/// How a program ended, and what it used since it was executed.
struct Ended {
  int wait_status = 0;  ///< as wait4(2) gives it
  Usage usage;
};

/// A wait status in words of exit codes and signals.
struct Exit {
  int code = 0;               ///< as a shell gives it: 128 + signal for a process that was killed
  std::optional<int> signal;  ///< that killed it
};

/// A child that has ended, or a traced process that has stopped.
struct Change {
  pid_t process = 0;
  int wait_status = 0;
  bool stopped = false;
  rusage statistics{};
};

/// The next one of any child, ended or stopped. Nothing where none waits to be told. Never blocks.
std::optional<Change> next_change();

/// What a wait status of an ended process means.
Exit exit_of(int wait_status);

/// Whether a timer of its own killed it: SIGALRM.
bool is_killed_by_timer(int wait_status);

/// A program that was started. Moves, never copies; ending its life does not touch the program.
class Program {
 public:
  /// Forks and lets the child execute `command`, found through PATH. Returns as soon as there is a child: whether its
  /// execve succeeds is told by executed(). Errors: not_found, not_executable; cannot_measure where fork fails, or
  /// where `conditions` cannot be had.
  static Result<Program> start(const std::vector<std::string>& command, Signals& signals, ChildHooks hooks = {},
                               Conditions conditions = {});

  pid_t pid() const { return pid_; }

  /// When it was forked, or when it was said to begin.
  const Moment& started() const { return started_; }

  /// For a child that was held back in a hook: its time begins now.
  void begins_now() { started_ = this_moment(); }

  /// Blocks until execve has succeeded, or has failed and the child is gone. A traced child must have been let run
  /// first. Errors: not_found, not_executable; told once, a further call succeeds.
  Result<void> executed();

  /// How it ended; nothing while it lives. Never blocks. Errors: cannot_measure where somebody else reaped it.
  Result<std::optional<Ended>> ended();

  /// What one wait4(2) of this program said, for who reaps by himself: the usage since it was executed.
  Ended ended_with(int wait_status, const rusage& statistics) const;

 private:
  Program() = default;

  std::string path_;
  pid_t pid_ = 0;
  Moment started_;
  Descriptor report_;
  Usage before_exec_;
};

/// Sends SIGTERM to a process.
void ask_to_end(pid_t process);

/// The monotonic clock.
Nanoseconds now();

}  // namespace tally::linux
