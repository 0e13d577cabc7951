// Columns of text that line up.
#pragma once

#include <string>
#include <vector>

namespace tally::report {

/// Where the text of a column stands.
enum class Align { left, right };

/// Rows of cells, as wide as their widest; columns that are empty in every row take no room.
class Grid {
 public:
  explicit Grid(std::vector<Align> columns) : columns_(std::move(columns)) {}

  /// One more row; missing cells are empty.
  void add(std::vector<std::string> cells);

  /// All rows, one line each, indented by one space, without trailing spaces.
  std::string text() const;

 private:
  std::vector<Align> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace tally::report
