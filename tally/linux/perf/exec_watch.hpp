// Notices when any process executes a program of a given name.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "tally/linux/process/process_watch.hpp"

namespace tally::linux {

/// Notices when processes execute programs of given file names. The kernel compares 15 bytes of them.
class ExecWatch {
 public:
  /// Starts watching. Cost: a counter and a ring for each CPU, if the kernel permits (CAP_PERFMON, root, or
  /// kernel.perf_event_paranoid at most 0).
  explicit ExecWatch(std::vector<std::string> names);
  ExecWatch(ExecWatch&&) noexcept;
  ~ExecWatch();

  /// Whether the kernel reports each execution. Otherwise all processes are checked every poll_each_ms.
  bool is_reported() const;
  static constexpr int poll_each_ms = 10;

  /// Returns the processes that have executed such a program since the last call.
  std::vector<pid_t> take();

  /// Blocks until take() may return one, one of `living` has ended, or `fd` is readable.
  void wait(const ProcessWatch& living, int fd) const;

 private:
  struct Rings;
  bool is_named(std::string_view name) const;
  std::vector<pid_t> named_processes();

  std::vector<std::string> names_;
  std::unique_ptr<Rings> rings_;  // null: the kernel does not report executions
  std::vector<pid_t> seen_;       // processes of those names at the last check
};

}  // namespace tally::linux
