// Whether the numbers of windows that a file holds can be.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tally/output/result/windows.hpp"

namespace tally::result {

/// Looks at the windows of one file, one after the other.
class WindowCheck {
 public:
  /// For who cannot stop at once: whether all windows so far can be. `why` has the first that cannot, by its row.
  bool accepts(const Window& window, const WindowsHead& head, std::string& why);

  /// Why no run can have made this window; empty where one can. Lengths, lost windows and counts are not negative, and
  /// what all windows counted together has room in 63 bits: readers add it up. Counts of a partial window may be below
  /// 0 by what an interrupted block took back.
  std::string problem_of(const Window& window, const WindowsHead& head);

 private:
  std::vector<std::int64_t> sums_;
  std::int64_t length_ = 0;
  std::uint64_t rows_ = 0;
};

}  // namespace tally::result
