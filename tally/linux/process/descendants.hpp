// Finds processes that a program has started and not waited for.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace tally::linux {

/// Makes this process adopt orphans among its descendants, instead of init.
void adopt_orphans();

/// Returns the process that would adopt orphans if this one did not: init, or a nearer one that requested it. 0 on
/// failure. Linux does not show it, so a child leaves an orphan for it. A descendant that becomes an orphan during this
/// half millisecond is adopted there, too. Must be called after adopt_orphans().
pid_t adopter_without_this();

/// Distinguishes descendants of programs that start from now on from earlier children of this process (a shell with
/// children may have executed tally). Misses none only after adopt_orphans().
class Descendants {
 public:
  /// Cost: some system calls.
  Descendants();

  /// Whether a process is such a descendant, and not an earlier child.
  bool include(pid_t process) const;

  /// Whether one is left, running or not yet reaped. While a descendant runs, so does a child: the descendant or one of
  /// its ancestors.
  bool any_left() const;

  /// Returns the running ones whose parent is this process, as "NAME (PID)". Cost: some small files.
  std::vector<std::string> living() const;

 private:
  std::vector<pid_t> others_;
};

}  // namespace tally::linux
