// Cells of the counts of a line or an instruction.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tally/output/analysis/cycle_causes.hpp"
#include "tally/output/kit/grid.hpp"
#include "tally/output/result/profile_result.hpp"

namespace tally::output {

/// A cell for each event, except for causes of cycles, which have one cell together: that of the main cause.
class CountCells {
 public:
  explicit CountCells(const result::Profile& profile);

  std::vector<Column> columns() const;
  /// `counts`: one for each event of the profile; null: empty cells.
  std::vector<std::string> cells(const std::vector<std::int64_t>* counts) const;

 private:
  const result::Profile& profile_;
  std::optional<CauseColumns> causes_;
};

}  // namespace tally::output
