// Which windows are wanted, of all that a program has.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tally/output/result/windows.hpp"

namespace tally::measure {

struct WindowChoice {
  std::vector<std::string> only = {};         ///< of programs of these file names; empty: of all
  std::vector<std::string> without = {};      ///< not of these
  std::uint64_t skip = 0;                     ///< of each thread of each program so many first ones are left out
  std::optional<std::uint64_t> windows = {};  ///< and then so many are taken, at most
  bool operator==(const WindowChoice&) const = default;
};

/// Asked of each window in its turn. Programs run on whatever is wanted: what is left out was counted all the same.
class ChosenWindows {
 public:
  explicit ChosenWindows(WindowChoice choice) : choice_(std::move(choice)) {}

  bool takes(const result::Window& window);

  /// What was left out because of its program, and whether nothing was taken: in words.
  std::vector<std::string> notices() const;

 private:
  WindowChoice choice_;
  std::map<std::string, std::uint64_t, std::less<>> left_out_;  // programs, with their windows
  std::uint64_t taken_ = 0, written_ = 0,
                longest_ = 0;  // windows of those programs; that were not skipped; of a thread
};

}  // namespace tally::measure
