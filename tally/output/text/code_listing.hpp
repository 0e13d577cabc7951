// A table of source lines or instructions with their counts.
#pragma once

#include <string>
#include <vector>

#include "tally/output/kit/grid.hpp"

namespace tally::output {

/// Rows of counts and code. Code keeps its beginning if the terminal is too narrow for it.
class CodeListing {
 public:
  /// `code`: the index of the column with the code.
  CodeListing(std::vector<Column> columns, std::size_t code) : columns_(std::move(columns)), code_(code) {}

  void add(std::vector<std::string> cells);

  /// All rows, one line each. In a terminal that leaves few columns for the code, columns are left out from the right,
  /// except the first one, keys and the code, with a line below that names them. `terminal` 0: no terminal.
  std::string text(std::size_t terminal) const;

 private:
  std::size_t width_of(std::size_t column) const;

  std::vector<Column> columns_;
  std::size_t code_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace tally::output
