// Starts a process that continues after the command that started it has ended.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <utility>

#include "tally/core/base/result.hpp"
#include "tally/linux/descriptor.hpp"

namespace tally::linux {

/// Identifies a process, and distinguishes it from a later one with the same ID.
struct ProcessIdentity {
  pid_t number = 0;
  std::uint64_t started = 0;  ///< clock ticks since boot (proc_pid_stat(5), field 22)
  bool operator==(const ProcessIdentity&) const = default;
};

/// Returns the identity of a process; started is 0 if it has ended.
ProcessIdentity identity_of(pid_t process);

/// Whether exactly this process is running.
bool lives(const ProcessIdentity& process);

/// Sends SIGTERM and waits until it ends. Errors: cannot_measure if this process may not send it.
Result<void> end_and_wait(const ProcessIdentity& process);

/// The daemon's connection to its creator, and its signals.
class Staying {
 public:
  Staying(Descriptor report, Descriptor signals) : report_(std::move(report)), signals_(std::move(signals)) {}

  /// Reports to the creator that the daemon is ready. Returns false if the creator has ended: then nobody will know the
  /// daemon.
  bool ready();

  /// Waits up to the timeout. Returns true if SIGTERM, SIGINT, SIGHUP or SIGQUIT asked the daemon to end.
  bool asked_to_end(int milliseconds) const;

  /// Reports to the creator why the daemon ends, unless ready() was called.
  void failed(const Error& error);

 private:
  Descriptor report_;
  Descriptor signals_;
};

/// Starts a process with this name (at most 15 characters) that executes `life`: in its own session, in /, without open
/// files of this process, with standard streams on /dev/null, and with the highest limit on open files. Returns its ID
/// when it calls ready(). Errors: that of life() if it returns before; cannot_measure if no process can be created, or
/// if it was killed before. The calling process must have only one thread.
Result<pid_t> start_daemon(const char* name, const std::function<Result<void>(Staying&)>& life);

}  // namespace tally::linux
