// Rows of a table: inside of this directory only.
#pragma once

#include <optional>

#include "tally/tools/watch/table.hpp"

namespace tally::watch {

/// Two readings, what is between them, and where cells without a value find their reason.
class Between {
 public:
  Between(const Machine& machine, const Reading& before, const Reading& after);

  const Machine& machine;
  const Reading& before;
  const Reading& after;
  double seconds = 0;

  /// A row without values: each cell has the reason of its column and kind.
  result::WatchRow row(result::WatchKind kind) const;

  /// Gives a cell its value, where there is one.
  static void set(result::WatchRow& row, Id id, std::optional<double> value);
  /// Or another reason than its column's.
  static void say(result::WatchRow& row, Id id, std::size_t reason);

  /// What a running sum grew by; nothing where either end has none, or where it fell: it began anew.
  static std::optional<double> grown(std::optional<double> from, std::optional<double> to);
  static std::optional<double> grown(std::optional<std::uint64_t> from, std::optional<std::uint64_t> to);
  /// The same a second.
  std::optional<double> rate(std::optional<std::uint64_t> from, std::optional<std::uint64_t> to) const;
};

/// What the counters of some processors, or around some sockets, grew by.
using Grown = std::array<std::optional<double>, counted_count>;

/// The columns that are made of what cores count.
void set_core_counts(result::WatchRow& row, const Grown& grown, double seconds, bool with_software);

std::vector<result::WatchRow> machine_rows(const Between& between, const Shown& shown, result::WatchTotals& totals);
std::vector<result::WatchRow> process_rows(const Between& between, const Shown& shown, std::size_t& left_out);
std::vector<result::WatchRow> group_rows(const Between& between, const Shown& shown, std::size_t& left_out);

/// Keeps the largest by a column, at most so many. Rows without a value there come last.
void keep_largest(std::vector<result::WatchRow>& rows, Id by, std::size_t most, std::size_t& left_out);

}  // namespace tally::watch
