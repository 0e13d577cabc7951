// Reports the begin and end of every thread of a command, and every program that it executes: with ptrace(2), like
// strace.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "tally/linux/process/spawn.hpp"

namespace tally::linux {

/// Meaning of a stop of a followed thread.
struct Sight {
  enum Kind {
    nothing,   ///< it was continued
    forked,    ///< it was continued, and created `child`: a thread or a process
    began,     ///< a thread is stopped before its first instruction
    executed,  ///< a thread is stopped before the first instruction of another program
    ends,      ///< a thread is stopped before its end; a killed thread is not reported
  };
  Kind what = nothing;
  pid_t thread = 0;
  pid_t process = 0;
  pid_t parent = 0;  ///< of `began`: the process that created its process
  pid_t child = 0;   ///< of `forked`
  pid_t former = 0;  ///< of `executed`: ID of the thread before
  std::string name;  ///< the thread's, at most 15 bytes
  /// Of `began`: a new process, now with this process as parent: its creator was killed before it could be reported.
  bool is_orphan = false;
};

/// Follows a process and all that it starts. Signals, job control and waits work as without it. Programs that trace
/// others, or that gain privileges by execve, notice it: the kernel permits one tracer for a program, and grants no
/// privileges under an unprivileged tracer. Processes that still run when this one ends continue without it.
namespace follower {

/// Begins with a child that has not executed a program yet. Returns 0, or the errno.
int seize(pid_t child);

/// Returns what this stop means. The thread stays stopped until go_on(), unless it was continued. `known`: its begin
/// was reported. Cost: a system call or two; for a new thread also a small file.
Sight interpret_stop(const Change& change, bool known);

/// Continues a stopped thread.
void go_on(pid_t thread);

/// Continues it and stops following it.
void let_go(pid_t thread);

}  // namespace follower

}  // namespace tally::linux
