// The rows of a result of `tally memory`, for its table and its page.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tally/output/result/memory_result.hpp"

namespace tally::output {

/// A column of the rows.
struct MemoryColumn {
  std::string heading{};
  bool number = false;     ///< right-aligned
  bool page_only = false;  ///< omitted from the table, which has it elsewhere or no room for it
  bool is_key = false;     ///< left out of narrow tables after the others
};

/// Rows with one cell per column.
struct MemoryRows {
  std::vector<MemoryColumn> columns;
  std::vector<std::vector<std::string>> rows;

  /// The rows as text in columns, and as an HTML table. Both omit columns that are empty in every row. `terminal`: see
  /// Grid::text().
  std::string text(std::size_t terminal = 0) const;
  std::string html() const;
};

/// One row per level and TLB, with the PMU's counts.
MemoryRows level_rows(const result::Memory& memory);

/// One row per measured point, with the PMU's counts.
MemoryRows point_rows(const result::Memory& memory);

/// One row per ratio.
MemoryRows ratio_rows(const result::Memory& memory);

/// One row per ceiling, with a rate and its spread for each number of processors.
MemoryRows ceiling_rows(const result::Ceilings& ceilings);

}  // namespace tally::output
