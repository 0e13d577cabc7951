#include "tally/linux/process/signal_witness.hpp"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tally/linux/files/files.hpp"
#include "tally/linux/system_call.hpp"

namespace tally::linux {
namespace {

struct Question {
  int number;  // its answer repeats it: a stopped witness answers late
  int signal;
  pid_t sender;
  timespec patience;
};

struct Answer {
  int number;
  int received;
};

/// Replaces tally's name and arguments, and with them those of the program. `length`: of /proc/self/cmdline.
void rename_this(std::size_t length) {
  constexpr const char* name = "signal-witness";
  prctl(PR_SET_NAME, name);
  if (length > 0) strncpy(program_invocation_name, name, length - 1);  // fills the rest with zeros
}

// Runs in the forked child: only async-signal-safe calls.
[[noreturn]] void answer_questions(int channel, pid_t group, std::size_t length) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  setpgid(0, group);
  rename_this(length);
  // Keeps no pipe or file of tally's open.
  if (syscall(SYS_close_range, channel + 1, ~0U, 0) != 0 || syscall(SYS_close_range, 0, channel - 1, 0) != 0)
    for (int file = 0, end = static_cast<int>(sysconf(_SC_OPEN_MAX)); file < end; ++file)  // before Linux 5.9
      if (file != channel) close(file);
  if (chdir("/") != 0) _exit(1);
  Question question;
  while (recv(channel, &question, sizeof question, 0) == static_cast<ssize_t>(sizeof question)) {
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, question.signal);
    siginfo_t signal{};
    const bool received = sigtimedwait(&only, &signal, &question.patience) == question.signal;
    const Answer answer{question.number, received && (question.sender == 0 || signal.si_pid == question.sender)};
    send(channel, &answer, sizeof answer, MSG_NOSIGNAL);
  }
  _exit(0);
}

}  // namespace

SignalWitness::SignalWitness(pid_t group) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return;
  channel_ = Descriptor(ends[0]);
  const Descriptor other(ends[1]);
  constexpr std::size_t most = 4 << 20;  // execve(2): a quarter of the stack's limit, usually 2 MiB
  const std::size_t length = content("/proc/self/cmdline", most).size();
  // Without a signal at its end, and without the handlers of pthread_atfork.
  process_ = static_cast<pid_t>(syscall(SYS_clone, 0, nullptr, nullptr, nullptr, nullptr));
  if (process_ == 0) answer_questions(other.get(), group, length);
  if (process_ < 0) channel_.reset();
}

SignalWitness::~SignalWitness() {
  channel_.reset();
  siginfo_t state{};
  if (process_ <= 0 || waitid(P_PID, static_cast<id_t>(process_), &state, WEXITED | WNOHANG | WNOWAIT | __WALL) != 0)
    return;
  kill(process_, SIGKILL);  // it may be stopped
  retry([&] { return waitpid(process_, nullptr, __WALL); });
}

bool SignalWitness::received(int signal, pid_t sender, Nanoseconds patience) const {
  if (!channel_) return false;
  // The kernel holds off changes of groups until a signal has reached the whole group, so the witness has it now.
  setpgid(0, getpgrp());
  static int number = 0;
  const auto in_ms = std::chrono::duration_cast<std::chrono::milliseconds>(patience).count();
  const Question question{++number, signal, sender, {0, static_cast<long>(patience.count())}};
  if (send(channel_.get(), &question, sizeof question, MSG_NOSIGNAL) < 0) return false;
  constexpr int at_most_ms = 1000;  // to be scheduled; a stopped witness does not answer
  for (pollfd ready{channel_.get(), POLLIN, 0}; poll(&ready, 1, at_most_ms + static_cast<int>(in_ms)) > 0;) {
    Answer answer{};
    if (recv(channel_.get(), &answer, sizeof answer, 0) <= 0) return false;
    if (answer.number == number) return answer.received != 0;
  }
  return false;
}

}  // namespace tally::linux
