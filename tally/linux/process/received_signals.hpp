// Handles the signals that tally receives while it measures.
#pragma once

#include <signal.h>
#include <sys/signalfd.h>
#include <sys/types.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "tally/core/base/result.hpp"
#include "tally/core/base/units.hpp"
#include "tally/linux/descriptor.hpp"
#include "tally/linux/process/signal_witness.hpp"

namespace tally::linux {

/// Signals that ask tally to end.
inline constexpr std::array ending_signals = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};

/// Whether this process ignores a signal.
bool is_ignored(int signal);

/// During its lifetime, SIGINT, SIGQUIT, SIGTERM, SIGHUP and SIGCHLD are blocked and read from fd() instead, and
/// SIGPIPE is ignored, so that tally writes its results before it ends. From the start of a program on, so are the
/// other signals that a supervisor may send. Signals that were ignored when tally started (nohup, a background job of a
/// shell) stay ignored. Only one may exist in a process; create it before any thread.
class Signals {
 public:
  /// Meaning of a signal.
  enum class Taken {
    nothing,      ///< no signal was pending
    child,        ///< a child ended, or a traced process stopped: call wait4
    forwarded,    ///< the program got that signal, which does not concern tally
    interrupted,  ///< tally must end; the program got that signal, too
    give_up,      ///< SIGINT or SIGQUIT three times within two seconds, or SIGTERM again within ten: stop waiting
  };

  /// A rank of an MPI job continues in another process (leave_group_of_rank()). Errors: cannot_measure if the kernel
  /// refuses a signalfd.
  static Result<Signals> watch();

  Signals(Signals&&) noexcept = default;
  Signals& operator=(Signals&&) = delete;
  ~Signals();

  /// Readable while a signal is pending; for poll.
  int fd() const { return fd_.get(); }

  /// Blocks until a signal is pending.
  void wait() const;

  /// Blocks and reads the signals that only a program needs, from now on. Call it before the fork.
  void expect_program();

  /// Forwards pending signals to a program that was just forked: those that came before or during the fork reached only
  /// tally.
  void pass_on(pid_t program);

  /// Takes one pending signal. Forwards one that another process sent to tally to `program` (0: to none). Signals from
  /// the terminal, those that the program sent itself, and those to the process group or to each process of a control
  /// group have reached the program already. After SIGTSTP this process stops.
  Taken take(pid_t program);

  /// When take() can start the witness of signals; nothing: it has.
  std::optional<Nanoseconds> witness_at() const {
    return witness_ ? std::nullopt : std::optional(forked_at_ + witness_after);
  }

  /// Takes all pending signals without forwarding them. After the program was reaped, this finds the terminal's Ctrl-C
  /// that ended it: the kernel reaps no process while it still delivers a signal to that process's group.
  void settle();

  /// Returns the first signal that asked tally to end.
  std::optional<int> interrupted_by() const { return interrupted_by_; }

  /// Records the signal that ended the program. If SIGHUP did not, it was no interrupt, but made a service read its
  /// settings.
  void program_ended(std::optional<int> signal) {
    witness_.reset();
    if (signal != SIGHUP && interrupted_by_ == SIGHUP) interrupted_by_.reset();
  }

  /// Records a signal that was taken elsewhere (Finishing).
  void note(int signal) {
    if (!interrupted_by_) interrupted_by_ = signal;
  }

  /// Whether a SIGKILL for tally and its process group does not reach this process.
  bool is_out_of_reach() const { return group_ != 0; }

  /// Restores the signal mask, dispositions and process group that tally was started with, in a child that is about to
  /// execute a program. Async-signal-safe.
  void restore_in_child() const noexcept;

 private:
  /// Signals to the process group within this time after the fork may reach the program twice: most programs that run
  /// for less need no witness (SignalWitness).
  static constexpr Nanoseconds witness_after = std::chrono::milliseconds(20);

  Signals() = default;

  void forward(const signalfd_siginfo& signal, pid_t program);
  bool reached_group(const signalfd_siginfo& signal, pid_t program);
  pid_t program_group() const;
  void restore() const noexcept;

  Descriptor fd_;
  sigset_t watched_{};
  sigset_t mask_before_{};
  struct sigaction pipe_before_ {};
  struct sigaction child_before_ {};
  std::optional<int> interrupted_by_;
  pid_t group_ = 0;                // of the rank that this process has left; 0: none
  sigset_t passed_on_{};           // the program has them; not taken yet
  bool group_is_stopped_ = false;  // by the terminal
  std::unique_ptr<SignalWitness> witness_;
  Nanoseconds forked_at_{};  // the program
  struct {
    int number = 0;
    std::uint32_t sender = 0;
    Nanoseconds at{};
  } group_signal_;               // the last one that reached the program without tally
  Nanoseconds asked_at_{};       // time of the first SIGTERM
  Nanoseconds earlier_[2] = {};  // times of the last two SIGINT or SIGQUIT
};

/// Ends this process by the default action of a signal, without a core file, so that its parent sees that it was
/// interrupted. Never returns.
[[noreturn]] void die_of(int signal);

}  // namespace tally::linux
