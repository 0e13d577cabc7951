// The series of a history: one event of one program over time, with its changes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tally/output/analysis/exact_steps.hpp"
#include "tally/output/result/history.hpp"

namespace tally::report {

/// One value of a series, and the entry that has it. Both pointers lead into the history.
struct SeriesValue {
  const result::HistoryEntry* entry = nullptr;
  const result::HistoryCount* count = nullptr;
};

/// A change of the level of a series; of exact counts every step.
struct SeriesChange {
  std::size_t at = 0;            ///< index of the first value of the new level
  double before = 0, after = 0;  ///< medians of the levels; of exact counts the values
};

/// Exact counts of different processors are one series; other counts are one series for each processor.
struct HistorySeries {
  std::string name, event;
  std::string processor;  ///< empty for exact counts
  Unit unit = Unit::events;
  bool is_exact = false;
  std::vector<SeriesValue> values;           ///< without missing ones, by date
  std::vector<SeriesChange> changes;         ///< in order of time
  std::vector<SeriesPattern> patterns = {};  ///< of exact counts, in order of time
};

/// The series of a history, by the first entry that has them. The history must live as long as they.
std::vector<HistorySeries> series_of(const result::History& history);

/// "703b6f084e4f", else the label, else the number: "#12".
std::string entry_text(const result::HistoryEntry& entry);

}  // namespace tally::report
