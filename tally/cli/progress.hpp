// How far long work is: one line on a terminal, nothing elsewhere.
#pragma once

#include <string>

#include "tally/base/units.hpp"

namespace tally::cli {

/// A line on standard error that is written again, where that is a terminal.
class Progress {
 public:
  explicit Progress(std::string title);

  /// Shows a share of the work, 0 to 1, and what is being done, at most ten times in a second.
  void show(double done, const std::string& what);

  /// Removes the line.
  void clear();

 private:
  std::string title_;
  bool terminal_ = false;
  bool shown_ = false;
  Nanoseconds last_{0};
};

}  // namespace tally::cli
