// Shows the progress of long work: one line on a terminal, nothing elsewhere.
#pragma once

#include <optional>
#include <string>

#include "tally/core/base/units.hpp"

namespace tally::cli {

/// A line on standard error that is rewritten, if standard error is a terminal.
class Progress {
 public:
  explicit Progress(std::string title);

  /// Shows the finished share of the work, 0 to 1, and the current step, at most ten times per second.
  void show(double done, const std::string& what);

  /// Begins a part of the work whose share grows with time: show() then also prints the remaining time.
  void begin_part();

  /// Removes the line.
  void clear();

 private:
  std::string title_;
  bool terminal_ = false;
  bool shown_ = false;
  Nanoseconds last_{0};
  bool is_timed_ = false;
  std::optional<double> first_share_;
  Nanoseconds began_{0};
};

/// The remaining time in words, if the work from share `from` to share `done` took `elapsed`; empty if it is too early
/// to say.
std::string remaining_time_text(double from, double done, Nanoseconds elapsed);

}  // namespace tally::cli
