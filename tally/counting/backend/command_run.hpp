// One execution of a command: its start, the wait for its end, and for what it leaves behind.
#pragma once

#include <optional>
#include <vector>

#include "tally/counting/backend/backend.hpp"
#include "tally/counting/backend/software.hpp"
#include "tally/linux/process/descendants.hpp"
#include "tally/linux/process/spawn.hpp"

namespace tally::backend {

/// How the program and what it started were left.
struct Left {
  bool ended = false;       ///< the program
  bool gave_up = false;     ///< the user did not want to wait any more
  bool some_alive = false;  ///< descendants were alive when counting ended
};

/// What is to be done at certain times while a program runs.
class Schedule {
 public:
  virtual ~Schedule() = default;

  /// When, by the monotonic clock, it wants to be called; nothing: not any more.
  virtual std::optional<Nanoseconds> next() const = 0;

  /// That time has come.
  virtual void due(Nanoseconds now) = 0;
};

/// Sees what becomes of processes before anybody else does, and answers what they ask for.
class Observer {
 public:
  virtual ~Observer() = default;

  /// Becomes readable when something is asked for; −1: nobody asks.
  virtual int requests_fd() const { return -1; }

  /// Answers all that is asked for. Never blocks.
  virtual void answer_requests() {}

  /// Whether there is nothing else to be done about it: it was a stop, or the end of what has another parent.
  virtual bool takes(const linux::Change& change) = 0;
};

/// Milliseconds until a time of the monotonic clock, rounded up: asked too early, a clock would be asked again and
/// again.
int milliseconds_until(Nanoseconds time);

/// Starts the command, waits for its end, and for what it leaves behind.
class CommandRun {
 public:
  /// The order must live as long. Makes this process the parent of orphans.
  explicit CommandRun(const Order& order);

  /// Forks. The child may be held back in `hooks`. Errors: those of linux::Program::start().
  Result<void> start(linux::ChildHooks hooks = {});

  /// The child's process. After start().
  pid_t pid() const { return program_->pid(); }

  /// What was before this was not the program's time.
  void begins_now() { program_->begins_now(); }

  /// When it was forked, or began.
  const linux::Moment& started() const { return program_->started(); }

  /// Blocks until it has been executed. Before figures(), which are without what was before. Errors: not_found,
  /// not_executable.
  Result<void> executed() { return program_->executed(); }

  /// Blocks until nothing is to be waited for.
  Left wait(Schedule* schedule = nullptr, Observer* observer = nullptr);

  /// How the program ended, as wait4(2) has it. After a wait() that says so.
  int wait_status() const { return wait_status_; }

  /// The kernel's bookkeeping and the clocks; without counters.
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
  Left left_;
  linux::Moment ended_at_;
  int wait_status_ = 0;
  rusage last_statistics_{};
  linux::Usage orphans_;  // of descendants whose parents were gone when they ended
};

}  // namespace tally::backend
