// Sees every thread of a command begin, every program that it executes, and every end: by ptrace(2), as strace does.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "tally/linux/process/spawn.hpp"

namespace tally::linux {

/// What a stop of a followed thread means.
struct Sight {
  enum What {
    nothing,   ///< it has gone on
    forked,    ///< it has gone on, and begun `child`: a thread or a process
    began,     ///< a thread waits in front of its first instruction
    executed,  ///< a thread waits in front of the first instruction of another program
    ends,      ///< a thread waits in front of its end; one that is killed is not seen so
  };
  What what = nothing;
  pid_t thread = 0;
  pid_t process = 0;
  pid_t parent = 0;  ///< of `began`: the process that its own was begun by
  pid_t child = 0;   ///< of `forked`
  pid_t former = 0;  ///< of `executed`: the number that the thread had before
  std::string name;  ///< the thread's: 15 bytes at most
  /// Of `began`: a new one whose parent is this process now. Who began it was killed before anybody could be told.
  bool is_orphan = false;
};

/// Follows a process and all that it starts. Signals, stops of job control and what it waits for are its own; who
/// traces others itself, and who gets rights by its execve, notices: the kernel lets one trace a program at a time, and
/// gives no rights to one that is traced by an ordinary user. What lives when this process ends goes on unfollowed.
namespace follower {

/// Begins with a child that has executed nothing yet. 0, or the errno of the refusal.
int seize(pid_t child);

/// What this stop means. The thread waits after it until go_on(), unless it has gone on. `known`: it was seen to
/// begin. Cost: a system call or two; for a new one a small file.
Sight look(const Change& change, bool known);

/// Lets a thread that waits go on.
void go_on(pid_t thread);

/// The same, and it is followed no longer.
void let_go(pid_t thread);

}  // namespace follower

}  // namespace tally::linux
