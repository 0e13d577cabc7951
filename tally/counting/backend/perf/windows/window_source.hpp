// Where windows of a native run come from.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tally/core/count/count.hpp"
#include "tally/counting/backend/native.hpp"

namespace tally::backend::perf {

/// Counters that sample, from their opening to their last windows.
class WindowSource {
 public:
  virtual ~WindowSource() = default;

  /// A child that has executed nothing yet is to be counted from its execve on, with all that it starts. Errors:
  /// cannot_measure.
  virtual Result<void> open_command(pid_t child) = 0;

  /// Rows come from here on, and tell their time from `started`.
  virtual Result<void> begin(Nanoseconds started) = 0;

  /// Hands on what is left.
  virtual void finish() = 0;

  /// Of each event asked, of the whole: after finish().
  virtual std::vector<Count> counts() const = 0;

  /// The longest time that one of the counters was on, in all threads together: after finish(). Nothing where no
  /// counter was inherited by all.
  virtual std::optional<Nanoseconds> longest_enabled() const { return std::nullopt; }

  /// How it was done, and what went wrong.
  virtual std::vector<std::string> notices() const = 0;

  /// Sees what becomes of processes, where it has to.
  virtual Observer* observer() { return nullptr; }
};

}  // namespace tally::backend::perf
