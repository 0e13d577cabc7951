// Checks that a table fits terminals of common widths: lines fit, numbers are unbroken.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "tally/core/base/text.hpp"

namespace tally::output {

/// The columns of the widest line.
inline std::size_t widest(const std::string& text) {
  std::size_t most = 0;
  for (const std::string& line : split(text, '\n')) most = std::max(most, display_width(line));
  return most;
}

/// Every number in `whole` is in `text`.
inline void expect_numbers(const std::string& text, const std::string& whole) {
  for (const std::string& line : split(whole, '\n'))
    for (const std::string& word : split(line, ' '))
      if (!word.empty() && word.find_first_not_of("0123456789,.") == std::string::npos) {
        EXPECT_NE(text.find(word), std::string::npos) << word << " in\n" << text;
      }
}

/// Checks the output of `write` at several terminal widths.
inline void expect_fit(const std::function<std::string(std::size_t)>& write, std::size_t least_whole) {
  const std::string whole = write(0);
  EXPECT_GT(widest(whole), 60u) << "too short to show anything";
  for (const std::size_t terminal : {60u, 80u, 200u}) {
    const std::string text = write(terminal);
    EXPECT_LE(widest(text), terminal) << text;
    expect_numbers(text, whole);
    if (terminal >= least_whole) {
      EXPECT_EQ(text, whole);
    }
  }
}

}  // namespace tally::output
