// What `tally watch` shows between two readings: rows of cells, each with a value or the reason why it has none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tally/core/base/units.hpp"
#include "tally/output/result/provenance.hpp"

namespace tally::result {

/// Why a cell has no value, or a fact of the header has no text.
struct WatchReason {
  std::string code;  ///< "no-pmu": one code for each cause, on every machine
  std::string text;  ///< what was searched, and what was found
  std::string hint;  ///< what to do, or what more permissions would add; may be empty
  bool operator==(const WatchReason&) const = default;
};

/// One value. A missing value is never 0.
struct WatchCell {
  std::optional<double> value;
  std::size_t reason = 0;  ///< without a value: index in WatchTable::reasons
  bool operator==(const WatchCell&) const = default;
};

/// What a row describes.
enum class WatchKind { core, socket, system, process, group };

/// "core", "socket", "system", "process", "group".
const char* name(WatchKind kind);

/// How a column's numbers are printed.
enum class WatchStyle {
  fixed,  ///< with WatchColumn::digits decimals
  count,  ///< three or four digits and K, M, G, T: powers of ten
  bytes,  ///< the same with powers of 1,024
};

/// A column: the same in all rows and readings.
struct WatchColumn {
  std::string name;    ///< "UTIL"
  std::string unit;    ///< "GHz"; empty for plain numbers
  std::string what;    ///< its meaning, for the legend
  std::string source;  ///< where its values come from on this machine; empty without a source
  WatchStyle style = WatchStyle::fixed;
  int digits = 2;
  bool operator==(const WatchColumn&) const = default;
};

/// One row of a reading.
struct WatchRow {
  WatchKind kind = WatchKind::core;
  std::string name;  ///< a process's program, a group's path, another row's number; may be empty
  std::optional<int> processor, socket, process;
  std::vector<WatchCell> cells;  ///< one per column
  std::string command = {};      ///< a process's words, separated by spaces; empty for threads of the kernel
  bool operator==(const WatchRow&) const = default;
};

/// The totals below PCM's table.
struct WatchTotals {
  WatchCell instructions;  ///< retired, on all watched processors
  WatchCell cycles;        ///< unhalted
  WatchCell ticks;         ///< of the time-stamp counter, between the readings
  bool operator==(const WatchTotals&) const = default;
};

/// A fact of the header.
struct WatchFact {
  std::string label;
  std::string text;    ///< empty: unknown
  std::string reason;  ///< why it is unknown
  bool operator==(const WatchFact&) const = default;
};

/// Description of the machine, printed once.
struct WatchHeader {
  std::vector<WatchFact> facts;
  Provenance provenance = {};
  bool operator==(const WatchHeader&) const = default;
};

/// Everything between two readings.
struct WatchTable {
  Nanoseconds time{0};      ///< of the later reading, since 1970
  Nanoseconds interval{0};  ///< since the previous reading
  std::vector<WatchColumn> columns;
  std::vector<WatchRow> rows;
  std::vector<WatchReason> reasons;
  WatchTotals totals;
  WatchCell own_cost;             ///< time that tally itself used, in percent of one processor
  std::size_t rows_left_out = 0;  ///< rows that are not shown
  bool hides_processes = false;   ///< /proc has only the processes of this user: hidepid
  bool operator==(const WatchTable&) const = default;
};

}  // namespace tally::result
