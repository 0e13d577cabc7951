// What `tally watch` shows of a machine between two readings: rows of cells, each a value or the reason why there is
// none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tally/core/base/units.hpp"

namespace tally::result {

/// Why a cell has no value, or a word of the header no text.
struct WatchReason {
  std::string code;  ///< "no-pmu": the same for the same cause, on every machine
  std::string text;  ///< what was looked for, and what was found
  std::string hint;  ///< what to do, or what more rights would add; empty where nothing is known
  bool operator==(const WatchReason&) const = default;
};

/// One figure. Absent is never 0.
struct WatchCell {
  std::optional<double> value;
  std::size_t reason = 0;  ///< where there is no value: a place in WatchTable::reasons
  bool operator==(const WatchCell&) const = default;
};

/// What a row is about.
enum class WatchKind { core, socket, system, process, group };

/// "core", "socket", "system", "process", "group".
const char* name(WatchKind kind);

/// How a column's numbers are written for people.
enum class WatchStyle {
  fixed,  ///< with so many digits behind the point
  count,  ///< three or four digits and K, M, G, T: powers of ten
  bytes,  ///< the same of 1,024
};

/// A column: the same in every row and every reading.
struct WatchColumn {
  std::string name;    ///< "UTIL"
  std::string unit;    ///< "GHz"; empty for plain numbers
  std::string what;    ///< what it tells, for the legend
  std::string source;  ///< where it comes from on this machine; empty where it has no source
  WatchStyle style = WatchStyle::fixed;
  int digits = 2;
  bool operator==(const WatchColumn&) const = default;
};

/// One row of a reading.
struct WatchRow {
  WatchKind kind = WatchKind::core;
  std::string name;  ///< of a process its program, of a group its path; of others their number, or nothing
  std::optional<int> processor, socket, process;
  std::vector<WatchCell> cells;  ///< one a column
  bool operator==(const WatchRow&) const = default;
};

/// What stands below PCM's table.
struct WatchTotals {
  WatchCell instructions;  ///< retired, on all processors that are watched
  WatchCell cycles;        ///< active ones
  WatchCell ticks;         ///< of the time-stamp counter, that passed between the readings
  bool operator==(const WatchTotals&) const = default;
};

/// A word of the header.
struct WatchFact {
  std::string label;
  std::string text;    ///< empty: not known
  std::string reason;  ///< why it is not known
  bool operator==(const WatchFact&) const = default;
};

/// What the machine is, once.
struct WatchHeader {
  std::vector<WatchFact> facts;
  bool operator==(const WatchHeader&) const = default;
};

/// All that was between two readings.
struct WatchTable {
  Nanoseconds time{0};      ///< of the later reading, since 1970
  Nanoseconds interval{0};  ///< since the reading before
  std::vector<WatchColumn> columns;
  std::vector<WatchRow> rows;
  std::vector<WatchReason> reasons;
  WatchTotals totals;
  WatchCell own_cost;             ///< what tally itself used of one processor, in percent
  std::size_t rows_left_out = 0;  ///< that exist beside those shown
  bool operator==(const WatchTable&) const = default;
};

}  // namespace tally::result
