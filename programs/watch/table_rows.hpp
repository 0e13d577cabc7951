// Table rows, for use in this directory only.
#pragma once

#include <optional>

#include "programs/watch/watch_table.hpp"

namespace tally::watch {

/// Two readings, their differences, and the reasons for cells without values.
class Between {
 public:
  Between(const WatchedMachine& machine, const Reading& before, const Reading& after);

  const WatchedMachine& machine;
  const Reading& before;
  const Reading& after;
  double seconds = 0;

  /// Returns a row without values: each cell has the reason of its column and kind.
  result::WatchRow row(result::WatchKind kind) const;

  /// Sets the value of a cell, if there is one.
  static void set(result::WatchRow& row, Id id, std::optional<double> value);
  /// Sets a reason other than the column's.
  static void say(result::WatchRow& row, Id id, std::size_t reason);

  /// Returns the growth of a running sum; nothing if a value is missing or the sum decreased because it restarted.
  static std::optional<double> grown(std::optional<double> from, std::optional<double> to);
  static std::optional<double> grown(std::optional<std::uint64_t> from, std::optional<std::uint64_t> to);
  /// The same per second.
  std::optional<double> rate(std::optional<std::uint64_t> from, std::optional<std::uint64_t> to) const;
};

/// The growth of the counters of some processors or sockets.
using Grown = std::array<std::optional<double>, counted_count>;

/// Sets the columns that are computed from core counts.
void set_core_counts(result::WatchRow& row, const Grown& grown, double seconds, bool with_software);

std::vector<result::WatchRow> machine_rows(const Between& between, const Shown& shown, result::WatchTotals& totals);
std::vector<result::WatchRow> process_rows(const Between& between, const Shown& shown, std::size_t& left_out);
std::vector<result::WatchRow> group_rows(const Between& between, const Shown& shown, std::size_t& left_out);

/// Keeps the `most` rows with the largest values in a column. Rows without a value sort last.
void keep_largest(std::vector<result::WatchRow>& rows, Id by, std::size_t most, std::size_t& left_out);

}  // namespace tally::watch
