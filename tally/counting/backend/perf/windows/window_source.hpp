// The interface of the two ways to record windows of a native run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tally/core/count/count.hpp"
#include "tally/counting/backend/native.hpp"

namespace tally::backend::perf {

/// Counters that sample windows, from their opening to the last windows.
class WindowSource {
 public:
  virtual ~WindowSource() = default;

  /// Prepares to count a child from its execve on, with its descendants. Errors: cannot_measure.
  virtual Result<void> open_command(pid_t child) = 0;

  /// Starts to pass windows to the sink, with times relative to `started`.
  virtual Result<void> begin(Nanoseconds started) = 0;

  /// Passes the remaining windows.
  virtual void finish() = 0;

  /// Returns the count of each requested event over the whole run. After finish().
  virtual std::vector<Count> counts() const = 0;

  /// Returns why the kernel took counters away; empty if it did not, or if the threads do not share inherited counters.
  /// After finish().
  virtual std::string why_lost() const { return ""; }

  /// Returns notes on the method and on problems.
  virtual std::vector<std::string> notices() const = 0;

  /// Returns an observer of process changes; null if it needs none.
  virtual Observer* observer() { return nullptr; }
};

}  // namespace tally::backend::perf
