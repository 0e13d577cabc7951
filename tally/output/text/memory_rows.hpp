// The rows of a result of `tally memory`, as its table and its page have them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tally/output/result/memory.hpp"

namespace tally::report {

/// What a column is shown as.
struct MemoryColumn {
  std::string heading{};
  bool number = false;     ///< stands at the right
  bool page_only = false;  ///< the table says it elsewhere, or has no room for it
};

/// Rows of as many cells as there are columns.
struct MemoryRows {
  std::vector<MemoryColumn> columns;
  std::vector<std::vector<std::string>> rows;

  /// As text in columns, and as a table of a page: columns that are empty in every row are left out of both.
  /// `terminal`: as of Grid::text().
  std::string text(std::size_t terminal = 0) const;
  std::string html() const;
};

/// One row for each level and each translation buffer, with what a PMU counted there.
MemoryRows level_rows(const result::Memory& memory);

/// One row for each measured point, with what a PMU counted beside it.
MemoryRows point_rows(const result::Memory& memory);

/// One row for each ratio.
MemoryRows ratio_rows(const result::Memory& memory);

}  // namespace tally::report
