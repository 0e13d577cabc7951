// The signals that reach tally itself while it measures.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <array>
#include <optional>

#include "tally/core/base/result.hpp"
#include "tally/core/base/units.hpp"
#include "tally/linux/descriptor.hpp"

namespace tally::linux {

/// The signals that ask tally to end.
inline constexpr std::array ending_signals = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};

/// Whether this process ignores a signal.
bool is_ignored(int signal);

/// While it lives, SIGINT, SIGQUIT, SIGTERM, SIGHUP and SIGCHLD are blocked and come out of fd() instead, and SIGPIPE
/// is ignored: results are written before tally dies. Those of the first four that were ignored when tally was started
/// (nohup, a shell's background job) stay ignored. One at a time in a process; create it before any thread.
class Signals {
 public:
  /// What one signal meant.
  enum class Taken {
    nothing,      ///< no signal was pending
    child,        ///< a child ended, or a traced process stopped: ask wait4
    interrupted,  ///< tally was asked to end; the program got that signal as well
    give_up,  ///< SIGINT or SIGQUIT three times within two seconds, or SIGTERM or SIGHUP again: nobody waits any more
  };

  /// Starts watching. Errors: cannot_measure where the kernel refuses a signalfd.
  static Result<Signals> watch();

  Signals(Signals&&) noexcept = default;
  Signals& operator=(Signals&&) = delete;
  ~Signals();

  /// Readable (poll it) while a signal is pending; never blocks.
  int fd() const { return fd_.get(); }

  /// Blocks until a signal is pending.
  void wait() const;

  /// For a program that was forked just now: what came before, and what came while it was, reached tally alone.
  void pass_on(pid_t program);

  /// Takes one pending signal. One that another process sent to tally is passed on to `program` (0: to nobody);
  /// one that the terminal sent has reached the program already, as has one that the program sent itself.
  Taken take(pid_t program);

  /// Takes everything that is pending, for nobody. After the program was reaped, this finds the terminal's Ctrl-C that
  /// ended it: the kernel reaps no process while it still hands a signal to that process's group.
  void settle();

  /// The first signal that asked tally to end.
  std::optional<int> interrupted_by() const { return interrupted_by_; }

  /// One that was taken elsewhere (Finishing).
  void note(int signal) {
    if (!interrupted_by_) interrupted_by_ = signal;
  }

  /// Puts the calling process's mask and dispositions back to what tally was started with, for a child that is about to
  /// execute a program. Async-signal-safe.
  void restore_in_child() const noexcept;

 private:
  Signals() = default;

  Descriptor fd_;
  sigset_t mask_before_{};
  struct sigaction pipe_before_ {};
  struct sigaction child_before_ {};
  std::optional<int> interrupted_by_;
  sigset_t passed_on_{};         // has reached the program, and waits to be taken
  Nanoseconds asked_at_{};       // when the first SIGTERM or SIGHUP came
  Nanoseconds earlier_[2] = {};  // when the last two of SIGINT and SIGQUIT came
};

/// Ends this process by the default action of a signal, without a core file, so that whoever waits for it sees that it
/// was interrupted. Never returns.
[[noreturn]] void die_of(int signal);

}  // namespace tally::linux
