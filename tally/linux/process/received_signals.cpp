#include "tally/linux/process/received_signals.hpp"

#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "tally/linux/process/rank_process.hpp"
#include "tally/linux/process/spawn.hpp"
#include "tally/linux/system_call.hpp"

namespace tally::linux {
namespace {

/// A repeated signal within this time counts as the same: `timeout` sends one to the process, and one to its group.
constexpr Nanoseconds same_signal = std::chrono::milliseconds(200);

/// The time between the signals of a supervisor that signals one process after the other, as systemd does with all of a
/// service.
constexpr Nanoseconds one_after_the_other = std::chrono::milliseconds(100);

/// A SIGTERM within this time after the first one asks again. A later one is another request to the program.
constexpr Nanoseconds asked_again = std::chrono::seconds(10);

/// Signals for the program only, with those of real time: nginx opens its logs again at SIGUSR1, for example. Not those
/// that a fault raises, nor those that report a limit, which apply to tally.
constexpr std::array program_signals = {SIGUSR1, SIGUSR2,   SIGALRM, SIGVTALRM, SIGPROF, SIGIO,
                                        SIGPWR,  SIGSTKFLT, SIGURG,  SIGWINCH,  SIGTSTP, SIGCONT};

/// Stops this process as SIGTSTP does while it is not blocked.
void stop() {
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, SIGTSTP);
  raise(SIGTSTP);
  sigprocmask(SIG_UNBLOCK, &only, nullptr);  // continues here
  sigprocmask(SIG_BLOCK, &only, nullptr);
}

bool is_ending(int signal) {
  return std::find(ending_signals.begin(), ending_signals.end(), signal) != ending_signals.end();
}

/// Whether SIGCONT has not reached a child that was stopped.
bool is_stopped(pid_t child) {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(child), &info, WSTOPPED | WNOHANG | WNOWAIT) == 0 && info.si_pid == child;
}

}  // namespace

bool is_ignored(int signal) {
  struct sigaction now {};
  return sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

Result<Signals> Signals::watch() {
  Signals signals;
  sigemptyset(&signals.passed_on_);
  sigemptyset(&signals.watched_);
  sigaddset(&signals.watched_, SIGCHLD);
  for (const int signal : ending_signals) {
    if (!is_ignored(signal)) sigaddset(&signals.watched_, signal);
  }
  signals.fd_ = Descriptor(signalfd(-1, &signals.watched_, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals.fd_) return system_failure(Code::cannot_measure, "cannot watch for signals (signalfd)");

  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, &signals.pipe_before_);
  // A parent may have left SIGCHLD ignored; then the kernel would reap the program, and wait4 would never report it.
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &standard, &signals.child_before_);
  sigprocmask(SIG_BLOCK, &signals.watched_, &signals.mask_before_);
  signals.group_ = leave_group_of_rank();
  return signals;
}

void Signals::expect_program() {
  const auto add = [this](int signal) {
    if (!is_ignored(signal)) sigaddset(&watched_, signal);
  };
  std::for_each(program_signals.begin(), program_signals.end(), add);
  for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal) add(signal);
  sigprocmask(SIG_BLOCK, &watched_, nullptr);
  signalfd(fd_.get(), &watched_, 0);
}

Signals::~Signals() {
  if (fd_) restore();
}

void Signals::restore_in_child() const noexcept {
  if (group_ != 0) setpgid(0, group_);
  restore();
}

void Signals::restore() const noexcept {
  sigaction(SIGPIPE, &pipe_before_, nullptr);
  sigaction(SIGCHLD, &child_before_, nullptr);
  sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
}

void Signals::wait() const {
  pollfd ready{fd_.get(), POLLIN, 0};
  poll(&ready, 1, -1);
}

pid_t Signals::program_group() const { return group_ != 0 ? group_ : getpgrp(); }

bool Signals::reached_group(const signalfd_siginfo& signal, pid_t program) {
  const int number = static_cast<int>(signal.ssi_signo);
  const bool waits = signal.ssi_code <= 0 && number != SIGCONT && static_cast<pid_t>(signal.ssi_pid) != program;
  // A rank's signals come through the process that it left.
  const pid_t sender = group_ != 0 ? 0 : static_cast<pid_t>(signal.ssi_pid);
  const Nanoseconds time = now();
  if (witness_ && witness_->received(number, sender, waits ? one_after_the_other : Nanoseconds{})) {
    group_signal_ = {number, signal.ssi_pid, now()};
  } else if (!waits || group_signal_.number != number || group_signal_.sender != signal.ssi_pid ||
             time - group_signal_.at >= same_signal) {
    return false;
  }
  return getpgid(program) == program_group();
}

void Signals::pass_on(pid_t program) {
  sigset_t waiting;
  if (sigpending(&waiting) != 0) return;
  for (const int signal : ending_signals) {
    if (is_ignored(signal) || sigismember(&waiting, signal) != 1) continue;
    kill(program, signal);
    sigaddset(&passed_on_, signal);
  }
  witness_.reset();
  forked_at_ = now();
}

Signals::Taken Signals::take(pid_t program) {
  if (program > 0 && !witness_ && now() - forked_at_ >= witness_after)
    witness_ = std::make_unique<SignalWitness>(program_group());
  signalfd_siginfo signal{};
  const ssize_t size = retry([&] { return read(fd_.get(), &signal, sizeof signal); });
  if (size != static_cast<ssize_t>(sizeof signal)) return Taken::nothing;
  const int number = static_cast<int>(signal.ssi_signo);
  if (number == SIGCHLD) return Taken::child;

  const Nanoseconds time = now();
  forward(signal, program);  // may wait
  if (!is_ending(number)) return Taken::forwarded;
  if (!interrupted_by_ || interrupted_by_ == SIGHUP) interrupted_by_ = number;
  if (number == SIGHUP) return Taken::interrupted;
  if (number == SIGTERM) {
    const Nanoseconds since = time - asked_at_;
    const bool is_first = asked_at_.count() == 0 || since > asked_again;
    if (is_first) asked_at_ = now();
    return !is_first && since >= same_signal ? Taken::give_up : Taken::interrupted;
  }
  // A program may handle one Ctrl-C, or two; a user who presses it more often wants to stop.
  const bool hammered = earlier_[0].count() != 0 && time - earlier_[0] < std::chrono::seconds(2);
  earlier_[0] = std::exchange(earlier_[1], time);
  return hammered ? Taken::give_up : Taken::interrupted;
}

void Signals::forward(const signalfd_siginfo& signal, pid_t program) {
  const int number = static_cast<int>(signal.ssi_signo);
  const bool has_it = (program > 0 && reached_group(signal, program)) || sigismember(&passed_on_, number) == 1 ||
                      (number == SIGCONT && group_is_stopped_ && !is_stopped(program));
  sigdelset(&passed_on_, number);
  // Codes above 0 come from the kernel: a terminal sends its signals to the whole foreground group. A timer that was
  // set before tally started is the program's.
  const bool is_of_terminal = signal.ssi_code > 0 && number != SIGALRM && number != SIGVTALRM && number != SIGPROF;
  if (number == SIGCONT) group_is_stopped_ = false;
  if (program > 0 && !is_of_terminal && !has_it && static_cast<pid_t>(signal.ssi_pid) != program) {
    sigval value{};
    value.sival_ptr = reinterpret_cast<void*>(signal.ssi_ptr);
    if (signal.ssi_code == SI_QUEUE) {
      sigqueue(program, number, value);
    } else {
      kill(program, number);
    }
  }
  if (number != SIGTSTP) return;
  group_is_stopped_ = is_of_terminal;
  stop();
}

void Signals::settle() {
  while (take(0) != Taken::nothing) {
  }
}

void die_of(int signal) {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  sigaction(signal, &standard, nullptr);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  sigprocmask(SIG_UNBLOCK, &only, nullptr);
  raise(signal);
  _exit(128 + signal);  // the default action of the signal does not end a process
}

}  // namespace tally::linux
