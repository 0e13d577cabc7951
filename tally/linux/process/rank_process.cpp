#include "tally/linux/process/rank_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tally/linux/descriptor.hpp"
#include "tally/linux/process/parallel_job.hpp"
#include "tally/linux/process/received_signals.hpp"

namespace tally::linux {
namespace {

// Even if all streams are redirected, keys of the terminal signal the group.
bool is_in_foreground() {
  const Descriptor terminal(open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY));
  return terminal && tcgetpgrp(terminal.get()) == getpgrp();
}

[[noreturn]] void pass_signals_to(pid_t child, const sigset_t& all) {
  while (true) {
    siginfo_t signal{};
    if (sigwaitinfo(&all, &signal) == -1) continue;
    if (signal.si_signo != SIGCHLD) {
      if (signal.si_code != SI_QUEUE || sigqueue(child, signal.si_signo, signal.si_value) != 0)
        kill(child, signal.si_signo);
      continue;
    }
    int status = 0;
    if (waitpid(child, &status, WNOHANG | WUNTRACED) != child) continue;
    if (WIFSTOPPED(status)) {
      raise(SIGSTOP);
      continue;
    }
    if (WIFSIGNALED(status)) die_of(WTERMSIG(status));
    _exit(WEXITSTATUS(status));
  }
}

}  // namespace

pid_t leave_group_of_rank() {
  if (!mpi_rank() || is_in_foreground()) return 0;
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &before);
  const pid_t group = getpgrp(), parent = getpid(), child = fork();
  if (child > 0) pass_signals_to(child, all);
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) raise(SIGTERM);
    setpgid(0, 0);
  }
  sigprocmask(SIG_SETMASK, &before, nullptr);
  return child == 0 ? group : 0;
}

}  // namespace tally::linux
