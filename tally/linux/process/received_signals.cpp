#include "tally/linux/process/received_signals.hpp"

#include <poll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <utility>

#include "tally/linux/process/spawn.hpp"
#include "tally/linux/system_call.hpp"

namespace tally::linux {
namespace {

/// A repeated signal within this time counts as the same: `timeout` sends one to the process, and one to its group.
constexpr Nanoseconds same_signal = std::chrono::milliseconds(200);

}  // namespace

bool is_ignored(int signal) {
  struct sigaction now {};
  return sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

Result<Signals> Signals::watch() {
  Signals signals;
  sigemptyset(&signals.passed_on_);
  sigset_t watched;
  sigemptyset(&watched);
  sigaddset(&watched, SIGCHLD);
  for (const int signal : ending_signals) {
    if (!is_ignored(signal)) sigaddset(&watched, signal);
  }
  signals.fd_ = Descriptor(signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals.fd_) return system_failure(Code::cannot_measure, "cannot watch for signals (signalfd)");

  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, &signals.pipe_before_);
  // A parent may have left SIGCHLD ignored; then the kernel would reap the program, and wait4 would never report it.
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &standard, &signals.child_before_);
  sigprocmask(SIG_BLOCK, &watched, &signals.mask_before_);
  return signals;
}

Signals::~Signals() {
  if (fd_) restore_in_child();
}

void Signals::restore_in_child() const noexcept {
  sigaction(SIGPIPE, &pipe_before_, nullptr);
  sigaction(SIGCHLD, &child_before_, nullptr);
  sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
}

void Signals::wait() const {
  pollfd ready{fd_.get(), POLLIN, 0};
  poll(&ready, 1, -1);
}

void Signals::pass_on(pid_t program) {
  sigset_t waiting;
  if (sigpending(&waiting) != 0) return;
  for (const int signal : ending_signals) {
    if (is_ignored(signal) || sigismember(&waiting, signal) != 1) continue;
    kill(program, signal);
    sigaddset(&passed_on_, signal);
  }
}

Signals::Taken Signals::take(pid_t program) {
  signalfd_siginfo signal{};
  const ssize_t size = retry([&] { return read(fd_.get(), &signal, sizeof signal); });
  if (size != static_cast<ssize_t>(sizeof signal)) return Taken::nothing;
  const int number = static_cast<int>(signal.ssi_signo);
  if (number == SIGCHLD) return Taken::child;

  if (!interrupted_by_) interrupted_by_ = number;
  // Codes above 0 come from the kernel: a terminal sends its signals to the whole foreground group.
  const bool sent_by_process = signal.ssi_code <= 0;
  const bool has_it = sigismember(&passed_on_, number) == 1;
  sigdelset(&passed_on_, number);
  if (program > 0 && sent_by_process && !has_it && static_cast<pid_t>(signal.ssi_pid) != program) kill(program, number);
  const Nanoseconds time = now();
  if (number != SIGINT && number != SIGQUIT) {
    const bool again = asked_at_.count() != 0 && time - asked_at_ >= same_signal;
    if (asked_at_.count() == 0) asked_at_ = time;
    return again ? Taken::give_up : Taken::interrupted;
  }
  // A program may handle one Ctrl-C, or two; a user who presses it more often wants to stop.
  const bool hammered = earlier_[0].count() != 0 && time - earlier_[0] < std::chrono::seconds(2);
  earlier_[0] = std::exchange(earlier_[1], time);
  return hammered ? Taken::give_up : Taken::interrupted;
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
