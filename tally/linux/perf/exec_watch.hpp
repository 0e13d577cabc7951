// Seeing programs begin that others start.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "tally/linux/process/process_watch.hpp"

namespace tally::linux {

/// Sees processes execute programs of given file names, of which the kernel compares 15 bytes.
class ExecWatch {
 public:
  /// From here on. Cost: a counter and a ring for each processor, where the kernel lets us (CAP_PERFMON, root, or
  /// kernel.perf_event_paranoid at most 0).
  explicit ExecWatch(std::vector<std::string> names);
  ExecWatch(ExecWatch&&) noexcept;
  ~ExecWatch();

  /// Whether the kernel tells at once. Otherwise all processes are looked at every poll_each_ms.
  bool is_reported() const;
  static constexpr int poll_each_ms = 10;

  /// Processes that have executed such a program since the last call.
  std::vector<pid_t> take();

  /// Blocks until take() may have one, one of `living` has ended, or `fd` is readable.
  void wait(const Living& living, int fd) const;

 private:
  struct Rings;
  bool is_named(std::string_view name) const;
  std::vector<pid_t> look();

  std::vector<std::string> names_;
  std::unique_ptr<Rings> rings_;  // null: nobody tells
  std::vector<pid_t> seen_;       // of those names, at the last look
};

}  // namespace tally::linux
