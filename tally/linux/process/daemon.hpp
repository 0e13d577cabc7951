// A process that stays when the command that made it has ended.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <utility>

#include "tally/core/base/result.hpp"
#include "tally/linux/descriptor.hpp"

namespace tally::linux {

/// A process, told from a later one of the same number.
struct ProcessMark {
  pid_t number = 0;
  std::uint64_t started = 0;  ///< clock ticks since the start of the system (proc_pid_stat(5), field 22)
  bool operator==(const ProcessMark&) const = default;
};

/// The mark of a process; started is 0 where it is gone.
ProcessMark mark_of(pid_t process);

/// Whether this very process lives.
bool lives(const ProcessMark& process);

/// Asks it to end by SIGTERM, and waits for that. Errors: cannot_measure where it may not be asked.
Result<void> end_and_wait(const ProcessMark& process);

/// What the process that stays has in hand.
class Staying {
 public:
  Staying(Descriptor report, Descriptor signals) : report_(std::move(report)), signals_(std::move(signals)) {}

  /// Tells who made it that all is done. False where that one has gone: nobody will know of this process.
  bool ready();

  /// Waits so many milliseconds at most; true where SIGTERM, SIGINT, SIGHUP or SIGQUIT has asked it to end.
  bool asked_to_end(int milliseconds) const;

  /// Tells who made it why it ends, where that was not told that all is done.
  void failed(const Error& error);

 private:
  Descriptor report_;
  Descriptor signals_;
};

/// Makes a process of this name (15 letters at most) that lives through `life`: in a session of its own, in /, with no
/// file of this one's open, nothing to write to, and as many files as it may have. Returns its number when it calls
/// ready(). Errors: that with which life() returned before; cannot_measure where no process can be made, or it was
/// killed before. The calling process has one thread.
Result<pid_t> start_daemon(const char* name, const std::function<Result<void>(Staying&)>& life);

}  // namespace tally::linux
