// How the counters went: what they held wherever something happened.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tally/tools/lab/computer.hpp"

namespace tally::lab {

class Timeline {
 public:
  struct Point {
    std::uint64_t instruction = 0;
    std::vector<std::uint64_t> values;
  };

  /// What the counters hold now; nothing is kept where that is as it was.
  void add(const Computer& machine);

  const std::vector<Point>& points() const { return points_; }
  /// What each counter counted when it was last seen to count; empty where it never was.
  const std::vector<std::string>& events() const { return events_; }
  /// There were more points than are kept.
  bool is_cut() const { return is_cut_; }

  static constexpr std::size_t most = 20'000;

 private:
  std::vector<Point> points_;
  std::vector<std::string> events_;
  bool is_cut_ = false;
};

}  // namespace tally::lab
