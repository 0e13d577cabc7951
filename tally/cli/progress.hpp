// How far long work is: one line on a terminal, nothing elsewhere.
#pragma once

#include <optional>
#include <string>

#include "tally/core/base/units.hpp"

namespace tally::cli {

/// A line on standard error that is written again, where that is a terminal.
class Progress {
 public:
  explicit Progress(std::string title);

  /// Shows a share of the work, 0 to 1, and what is being done, at most ten times in a second.
  void show(double done, const std::string& what);

  /// A part of the work begins, whose shares go by time: from here on show() tells how long the rest of it takes.
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

/// How long the rest takes, in words, where a share of `from` to `done` took `elapsed`; empty where that says little
/// yet.
std::string rest_text(double from, double done, Nanoseconds elapsed);

}  // namespace tally::cli
