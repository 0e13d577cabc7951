// One execution of a command: its start, and the wait for its end and for processes that outlive it.
#pragma once

#include <optional>
#include <vector>

#include "tally/counting/backend/backend.hpp"
#include "tally/counting/backend/software.hpp"
#include "tally/linux/process/descendants.hpp"
#include "tally/linux/process/spawn.hpp"

namespace tally::backend {

/// The state of the program and its descendants when tally stopped waiting.
struct WaitResult {
  bool ended = false;       ///< the program has ended
  bool gave_up = false;     ///< the user stopped the wait
  bool some_alive = false;  ///< descendants were still running when counting ended
};

/// Work to do at certain times while a program runs.
class Schedule {
 public:
  virtual ~Schedule() = default;

  /// Returns the monotonic time of the next call to due(); nothing: no more calls.
  virtual std::optional<Nanoseconds> next() const = 0;

  /// Does the work that was due at next().
  virtual void due(Nanoseconds now) = 0;

  /// A descriptor that becomes readable when a command waits; −1: none.
  virtual int commands_fd() const { return -1; }

  /// Carries out all commands that wait. Never blocks.
  virtual void take_commands(Nanoseconds /*now*/) {}
};

/// Receives changes of processes before CommandRun does, and answers requests of engines.
class Observer {
 public:
  virtual ~Observer() = default;

  /// A descriptor that becomes readable when there is a request; −1: none.
  virtual int requests_fd() const { return -1; }

  /// Answers all pending requests. Never blocks.
  virtual void answer_requests() {}

  /// Returns true if it has handled the change: a stop, or the end of a process with another parent.
  virtual bool takes(const linux::Change& change) = 0;
};

/// Milliseconds until a monotonic time. Rounded up: a timeout that is too short would make the caller poll the clock.
int milliseconds_until(Nanoseconds time);

/// Starts the command, and waits for its end and for processes that outlive it.
class CommandRun {
 public:
  /// `order` must outlive this object. Makes this process the parent of orphans.
  explicit CommandRun(const Order& order);

  /// Forks. `hooks` may delay the child. Errors: those of linux::Program::start().
  Result<void> start(linux::ChildHooks hooks = {});

  /// The process ID of the child. Call it after start().
  pid_t pid() const { return program_->pid(); }

  /// Ends the child, unless it has ended.
  void end(linux::End how) const;

  /// Starts the program's time: what the child did before is not counted as the program's.
  void begins_now() { program_->begins_now(); }

  /// The time of the fork, or of begins_now().
  const linux::Moment& started() const { return program_->started(); }

  /// Blocks until the child has executed the program. Call it before statistics(), which leave out what the child did
  /// before. Errors: not_found, not_executable.
  Result<void> executed() { return program_->executed(); }

  /// Blocks until there is nothing more to wait for.
  WaitResult wait(Schedule* schedule = nullptr, Observer* observer = nullptr);

  /// The wait status of the program, as wait4(2) returns it. Valid if wait() reported that it has ended.
  int wait_status() const { return wait_status_; }

  /// Resource usage from the kernel, and times; no counters.
  RunStatistics statistics() const;

  /// The outcome without its counts.
  Outcome outcome(const RunStatistics& statistics) const;

 private:
  bool wanted() const;
  int patience_ms(const Schedule* schedule) const;
  void reap(Observer* observer);

  const Order& order_;
  linux::Descendants descendants_;
  std::optional<linux::Program> program_;
  WaitResult left_;
  linux::Moment ended_at_;
  int wait_status_ = 0;
  rusage last_statistics_{};
  linux::Usage orphans_;  // of descendants that ended after their parents
};

}  // namespace tally::backend
