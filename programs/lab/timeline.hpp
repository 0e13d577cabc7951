// The values of the counters at each event of a run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "programs/lab/computer.hpp"

namespace tally::lab {

class Timeline {
 public:
  struct Point {
    std::uint64_t instruction = 0;
    std::vector<std::uint64_t> values;
  };

  /// Adds the current values of the counters if they changed.
  void add(const Computer& machine);

  const std::vector<Point>& points() const { return points_; }
  /// Returns the last event that each counter counted; empty for a counter that never ran.
  const std::vector<std::string>& events() const { return events_; }
  /// Whether points were dropped because there were too many.
  bool is_cut() const { return is_cut_; }

  static constexpr std::size_t most = 20'000;

 private:
  std::vector<Point> points_;
  std::vector<std::string> events_;
  bool is_cut_ = false;
};

}  // namespace tally::lab
