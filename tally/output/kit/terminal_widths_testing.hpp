// Checks that a table fits terminals of common widths: lines fit, numbers are unbroken.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>

#include "tally/core/base/text.hpp"

namespace tally::output {

/// The columns of the widest line.
inline std::size_t widest(const std::string& text) {
  std::size_t most = 0;
  for (const std::string& line : split(text, '\n')) most = std::max(most, display_width(line));
  return most;
}

/// The numbers of a text, with their separators.
inline std::set<std::string> numbers_in(const std::string& text) {
  std::set<std::string> numbers;
  for (const std::string& line : split(text, '\n'))
    for (const std::string& word : split(line, ' '))
      if (!word.empty() && word.find_first_not_of("0123456789,.%") == std::string::npos) numbers.insert(word);
  return numbers;
}

/// Every number of `text` is one of `whole`: none is a part of one. Lines that say what is left out do not count.
inline void expect_numbers(const std::string& text, const std::string& whole) {
  std::string rows;
  bool is_row = true;
  for (const std::string& line : split(text, '\n')) {
    is_row = line.empty() || (is_row && line.find("left out") == std::string::npos);
    if (is_row) rows += line + "\n";
  }
  const std::set<std::string> known = numbers_in(whole);
  for (const std::string& number : numbers_in(rows)) EXPECT_TRUE(known.count(number)) << number << " in\n" << text;
}

/// Checks the output of `write` at several terminal widths: from `least_whole` on it is that without a terminal.
inline void expect_fit(const std::function<std::string(std::size_t)>& write, std::size_t least_whole) {
  const std::string whole = write(0);
  EXPECT_GT(widest(whole), 60u) << "too short to show anything";
  for (const std::size_t terminal : {40u, 60u, 80u, 120u, 200u}) {
    const std::string text = write(terminal);
    EXPECT_LE(widest(text), terminal) << text;
    expect_numbers(text, whole);
    if (terminal >= least_whole) {
      EXPECT_EQ(text, whole);
    }
  }
}

}  // namespace tally::output
