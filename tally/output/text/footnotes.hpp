// Reasons below a table, where they would make its rows too long or stand in several of them.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "tally/core/count/count.hpp"

namespace tally::report {

/// Says what the trust of counts is, and keeps for the lines below what is too long for the row. Every count of a table
/// is announced first: what only one row says, and shortly, stays in the row.
class Footnotes {
 public:
  void announce(const Count& count);

  /// The cell: "exact", "partial: REASON" or "partial [1]".
  std::string cell(const Count& count);

  /// The notes that cells referred to since the last call, one line each; empty where there were none.
  std::string text();

 private:
  std::map<std::string, std::size_t> rows_;  // how many have this reason
  std::vector<std::string> notes_;
  std::size_t written_ = 0;
};

}  // namespace tally::report
