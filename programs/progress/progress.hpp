// Shows the progress of long work: one line on a terminal, nothing elsewhere.
#pragma once

#include <optional>
#include <string>

#include "tally/core/base/units.hpp"

namespace tally::command {

/// Rewrites one line on standard error if that is a terminal; otherwise prints nothing.
class Progress {
 public:
  explicit Progress(std::string title);

  /// Shows the finished share of the work, 0 to 1, and the current step, at most ten times per second.
  void show(double done, const std::string& what);

  /// Starts a part of the work with a steady rate. From now on, show() also prints the remaining time of this part.
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

/// Returns the remaining time in words, given that the work took `elapsed` from share `from` to share `done`. Empty
/// before 3 seconds have passed, or if the share has not grown.
std::string remaining_time_text(double from, double done, Nanoseconds elapsed);

}  // namespace tally::command
