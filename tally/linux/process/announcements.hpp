// Receives messages from descendant processes, with the sender's process ID as this process sees it.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <optional>

#include "tally/core/base/result.hpp"
#include "tally/linux/descriptor.hpp"

namespace tally::linux {

/// A socket whose other end descendants inherit. Each message is a small plain struct.
class Announcements {
 public:
  /// Makes the socket. Errors: cannot_measure.
  static Result<Announcements> make();

  /// Readable while a message waits.
  int fd() const { return ours_.get(); }
  /// The end that descendants send to.
  int their_fd() const { return theirs_.get(); }
  void close_theirs() { theirs_.reset(); }

  /// False once no descendant has the other end open: then fd() is always readable, with nothing to read.
  bool open() const { return open_; }

  /// Takes one message of exactly `bytes`. Returns its sender, verified by the kernel and translated through PID
  /// namespaces; nothing if no message waits. `file`: the descriptor that came with it, if any.
  std::optional<pid_t> receive(void* message, std::size_t bytes, Descriptor& file);

 private:
  Descriptor ours_, theirs_;
  bool open_ = true;
};

/// Sends a message from a forked child. Returns false if nobody listens. Async-signal-safe.
bool announce(int fd, const void* message, std::size_t bytes) noexcept;

/// Returns the ID of the calling process. Async-signal-safe.
pid_t own_pid() noexcept;

/// Returns the ID of a thread of `process` that has the ID `tid` in the process's own PID namespace, in which the
/// process has the ID `pid`. Nothing if the thread has ended.
std::optional<pid_t> thread_of(pid_t process, pid_t pid, pid_t tid);

/// Waits until one of the descriptors is readable, a signal arrives, or the timeout has passed; a negative timeout is
/// infinite. Ignores negative descriptors.
void wait_readable(std::array<int, 3> descriptors, int milliseconds = -1);

}  // namespace tally::linux
