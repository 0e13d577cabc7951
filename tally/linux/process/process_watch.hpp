// Processes and threads that are none of ours, and their end.
#pragma once

#include <sys/types.h>

#include <vector>

#include "tally/linux/descriptor.hpp"

namespace tally::linux {

/// The threads of a process, in the order of their numbers; empty where it is gone.
std::vector<pid_t> threads_of(pid_t process);

/// Whether one of its threads lives: the first may have ended before the others.
bool process_is_alive(pid_t process);

/// Whether a thread is one of the kernel's own, which executes nothing in user mode. False for what is not there.
bool is_kernel_thread(pid_t thread);

/// Waits for the end of processes and threads that others started.
class Living {
 public:
  /// Cost: a system call for each process. Where the kernel has no descriptors of processes (before 5.3), and for
  /// threads, they are looked at ten times a second.
  Living(const std::vector<pid_t>& processes, const std::vector<pid_t>& threads);

  /// Whether one of them lives.
  bool any();

  /// One more process.
  void add(pid_t process);

  /// Blocks until one has ended, one of `descriptors` is readable, or so many milliseconds have passed (negative:
  /// without end).
  void wait(const std::vector<int>& descriptors, int milliseconds) const;
  void wait(int fd, int milliseconds) const { wait(std::vector<int>{fd}, milliseconds); }

 private:
  struct One {
    pid_t number;
    Descriptor descriptor;  // none: looked at
  };
  std::vector<One> all_;
};

}  // namespace tally::linux
