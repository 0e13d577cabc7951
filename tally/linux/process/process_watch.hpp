// Watches processes and threads that are not children of this one, until they end.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/linux/descriptor.hpp"

namespace tally::linux {

/// Returns the threads of a process, by ID; empty if it has ended.
std::vector<pid_t> threads_of(pid_t process);

/// Whether a thread of the process is alive. The main thread may end before the others.
bool is_process_alive(pid_t process);

/// The error for a "process" or "thread" that is not alive, or that this user cannot see: why, with ESRCH.
Error not_alive(const char* what, pid_t number);

/// Says which living children of these processes are not among them, and how to name all; empty if none is left out.
std::string children_left_out(const std::vector<pid_t>& processes);

/// Whether a thread is a kernel thread, which executes nothing in user mode. False if it does not exist.
bool is_kernel_thread(pid_t thread);

/// Waits for the end of processes and threads that others started.
class ProcessWatch {
 public:
  /// Cost: a system call for each process. Threads, and processes on kernels without pidfds (before 5.3), are checked
  /// ten times a second.
  ProcessWatch(const std::vector<pid_t>& processes, const std::vector<pid_t>& threads);

  /// Whether one of them is running.
  bool any();

  /// Adds a process.
  void add(pid_t process);

  /// Blocks until one has ended, one of `descriptors` is readable, or the timeout has passed (negative: infinite).
  /// Returns after at most 100 ms if one is polled: call it in a loop.
  void wait(const std::vector<int>& descriptors, int milliseconds) const;
  void wait(int fd, int milliseconds) const { wait(std::vector<int>{fd}, milliseconds); }

 private:
  struct Watched {
    pid_t number;
    Descriptor descriptor;  // none: polled
  };
  std::vector<Watched> all_;
};

}  // namespace tally::linux
