// Reasons that are printed below a table because they are long or occur in several rows.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "tally/core/count/count.hpp"

namespace tally::output {

/// "model zen4 caches, fast", "estimated, ± 3.8 %: REASON": the trust of a count in one line.
std::string trust_text(const Count& count);

/// Formats the trust of counts, and moves long reasons to notes below the table. Announce every count of a table first:
/// a reason that is short and occurs in one row stays in the row.
class Footnotes {
 public:
  /// `terminal`: columns of the terminal that shows the table; in a narrow one every reason is a note. 0: no terminal.
  explicit Footnotes(std::size_t terminal = 0) : is_narrow_(terminal != 0 && terminal < 120) {}

  void announce(const Count& count);

  /// The cell: "exact", "partial: REASON" or "partial [1]".
  std::string cell(const Count& count);

  /// The notes that cells referred to since the last call, one line each; empty if there are none.
  std::string text();

 private:
  bool is_narrow_;
  std::map<std::string, std::size_t> rows_;  // number of rows with this reason
  std::vector<std::string> notes_;
  std::size_t written_ = 0;
};

}  // namespace tally::output
