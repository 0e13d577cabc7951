// Selects windows by program and number.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tally/output/result/windows_result.hpp"

namespace tally::measure {

struct WindowChoice {
  std::vector<std::string> only = {};         ///< windows of programs with these file names; empty: of all
  std::vector<std::string> without = {};      ///< without these programs
  std::uint64_t skip = 0;                     ///< number of windows to skip at the start of each thread of each program
  std::optional<std::uint64_t> windows = {};  ///< then take at most this many
  bool operator==(const WindowChoice&) const = default;
};

/// Decides on each window in order. Programs run on regardless: omitted windows were counted as well.
class WindowFilter {
 public:
  explicit WindowFilter(WindowChoice choice) : choice_(std::move(choice)) {}

  bool takes(const result::Window& window);

  /// Returns in words what was omitted because of its program, and whether nothing was taken.
  std::vector<std::string> notices() const;

 private:
  WindowChoice choice_;
  std::map<std::string, std::uint64_t, std::less<>> left_out_;  // programs, with the number of their windows
  std::uint64_t taken_ = 0, written_ = 0,
                longest_ = 0;  // windows of the selected programs; those not skipped; the most of a thread
};

}  // namespace tally::measure
