// Processes that a program leaves behind.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace tally::linux {

/// Makes this process the one that orphans of its descendants come to, instead of init.
void adopt_orphans();

/// Tells the descendants of programs that are started from now on from children that this process had before (a shell
/// may have executed tally in a process that had some). Only after adopt_orphans() is no descendant missed.
class Descendants {
 public:
  /// Cost: some system calls.
  Descendants();

  /// Whether a process is one of them, and not one of those that were there before.
  bool include(pid_t process) const;

  /// Whether one is left, dead and not reaped or alive. As long as a descendant lives, so does a child: itself or one
  /// that it descends from.
  bool any_left() const;

  /// Those that are alive and whose parent this process is, as "NAME (PID)". Cost: some small files.
  std::vector<std::string> living() const;

 private:
  std::vector<pid_t> others_;
};

}  // namespace tally::linux
