#include "tally/linux/process/follower.hpp"

#include <fmt/format.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "tally/core/base/text.hpp"
#include "tally/linux/files/files.hpp"

namespace tally::linux::follower {
namespace {

constexpr unsigned long all_of_them =
    PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT;

void cont(pid_t thread, int signal) { ptrace(PTRACE_CONT, thread, nullptr, static_cast<unsigned long>(signal)); }

pid_t message_of(pid_t thread) {
  unsigned long number = 0;
  return ptrace(PTRACE_GETEVENTMSG, thread, nullptr, &number) == 0 ? static_cast<pid_t>(number) : 0;
}

Sight described(pid_t thread, Sight::Kind what) {
  const std::string status = content(fmt::format("/proc/{}/status", thread));
  const auto number = [&](const char* key) {
    return static_cast<pid_t>(parse_integer(value_of(status, key)).value_or(0));
  };
  return {what, thread, number("Tgid"), number("PPid"), 0, 0, value_of(status, "Name"), false};
}

}  // namespace

int seize(pid_t child) { return ptrace(PTRACE_SEIZE, child, nullptr, all_of_them) == 0 ? 0 : errno; }

Sight interpret_stop(const Change& change, bool known) {
  const pid_t thread = change.process;
  const int signal = WSTOPSIG(change.wait_status);
  switch (change.wait_status >> 16) {
    case PTRACE_EVENT_EXEC: {
      Sight sight = described(thread, Sight::executed);
      sight.former = message_of(thread);
      return sight;
    }
    case PTRACE_EVENT_EXIT: return described(thread, Sight::ends);
    case PTRACE_EVENT_STOP:
      // A new thread, or job control: stopped or continued together with its process.
      if (!known) {
        Sight sight = described(thread, Sight::began);
        sight.is_orphan = signal == SIGTRAP && sight.parent == getpid();
        return sight;
      }
      if (signal == SIGTRAP) break;
      ptrace(PTRACE_LISTEN, thread, nullptr, nullptr);
      return {};
    case PTRACE_EVENT_FORK:
    case PTRACE_EVENT_VFORK:
    case PTRACE_EVENT_CLONE: {
      Sight sight;
      sight.what = Sight::forked;
      sight.thread = thread;
      sight.child = message_of(thread);
      cont(thread, 0);
      return sight;
    }
    case 0: cont(thread, signal); return {};  // a signal for the program: deliver it
    default: break;
  }
  cont(thread, 0);
  return {};
}

void go_on(pid_t thread) { cont(thread, 0); }

void let_go(pid_t thread) { ptrace(PTRACE_DETACH, thread, nullptr, nullptr); }

}  // namespace tally::linux::follower
