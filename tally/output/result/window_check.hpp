// Checks whether the numbers of stored windows are possible.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tally/output/result/windows_result.hpp"

namespace tally::result {

/// Checks the windows of one file in order.
class WindowCheck {
 public:
  /// Why no run can have produced this window; empty if one can. Lengths, lost windows and counts are not negative, and
  /// their sums over all windows fit into 63 bits, because readers add them up. Counts of a partial window may be
  /// negative, because an interrupted block subtracts what it counted ahead.
  std::string problem_of(const Window& window, const WindowsHead& head);

 private:
  std::vector<std::int64_t> sums_;
  std::int64_t length_ = 0;
};

}  // namespace tally::result
