// Messages from processes anywhere in the tree, with the sender's number as this process sees it.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>

#include "tally/core/base/result.hpp"
#include "tally/linux/descriptor.hpp"

namespace tally::linux {

/// A socket whose other end descendants inherit. Each message is a small plain struct.
class Announcements {
 public:
  /// Errors: cannot_measure.
  static Result<Announcements> make();

  /// Readable while a message waits; poll it.
  int fd() const { return ours_.get(); }
  /// The end that descendants send to.
  int their_fd() const { return theirs_.get(); }
  void close_theirs() { theirs_.reset(); }

  /// False once no descendant holds the other end any more: then fd() is readable for ever, with nothing to read.
  bool open() const { return open_; }

  /// Takes one message of exactly `bytes`; its sender as the kernel vouches for it, translated through pid namespaces.
  /// Nothing when none waits. `file` is the descriptor that came with it, if one did.
  std::optional<pid_t> receive(void* message, std::size_t bytes, Descriptor& file);

 private:
  Descriptor ours_, theirs_;
  bool open_ = true;
};

/// Sends a message from a forked child; false where nobody listens. Async-signal-safe.
bool announce(int fd, const void* message, std::size_t bytes) noexcept;

/// The calling process's number. Async-signal-safe.
pid_t own_pid() noexcept;

/// The thread of `process` whose number in the process's own pid namespace is `tid`, that of the process itself there
/// being `pid`. Nothing where it is gone.
std::optional<pid_t> thread_of(pid_t process, pid_t pid, pid_t tid);

/// Waits until one of two descriptors is readable or a signal arrives, or until so many milliseconds have passed;
/// without end when they are negative. A negative descriptor is left out.
void wait_readable(int a, int b, int milliseconds = -1);

}  // namespace tally::linux
