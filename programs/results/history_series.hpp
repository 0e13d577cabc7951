// The series of a history: one event of one program over time, with its changes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "programs/results/exact_steps.hpp"
#include "programs/results/result_commands.hpp"
#include "tally/output/result/history_result.hpp"

namespace tally::results {

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

/// Exact counts of different processors are one series; other counts are one series for each processor. Results that
/// were counted with other settings are a series of their own.
struct HistorySeries {
  std::string name, event;
  std::string processor;                       ///< empty for exact counts
  std::vector<result::Setting> settings = {};  ///< those that decide the counts; empty: unknown
  /// What distinguishes it from the other series of its name and event: "--cpu-model haswell"; empty: it is the only
  /// one.
  std::string distinction = {};
  /// Settings that its first result changed: "--cpu-model (the real processor → haswell)"; empty for a first series.
  std::string changed_settings = {};
  Unit unit = Unit::events;
  bool is_exact = false;
  std::vector<SeriesValue> values;           ///< without missing ones, by date
  std::vector<SeriesChange> changes;         ///< in order of time
  std::vector<SeriesPattern> patterns = {};  ///< of exact counts, in order of time
};

/// The series of a history, by the first entry that has them. The history must live as long as they.
std::vector<HistorySeries> series_of(const result::History& history);

/// Whether the change of a value from the one before is intended (result::HistoryEntry::accepted).
bool accepts(const HistorySeries& series, std::size_t at);

/// A result whose change was accepted.
struct AcceptedResult {
  std::string name;
  const result::HistoryEntry* entry = nullptr;
};

/// One for all events of a result.
std::vector<AcceptedResult> accepted_results(const std::vector<HistorySeries>& all);

/// A result that starts series because it was counted with other settings.
struct NewSettings {
  std::string name;
  const result::HistoryEntry* entry = nullptr;
  std::string settings;  ///< "--cpu-model (the real processor → haswell)"
};

/// One for all events of a result.
std::vector<NewSettings> new_settings_of(const std::vector<HistorySeries>& all);

/// The name with what distinguishes the series: "./prog (--cpu-model haswell)".
std::string series_name(const HistorySeries& series);

/// "703b6f084e4f", else the label, else the number: "#12".
std::string entry_text(const result::HistoryEntry& entry);

}  // namespace tally::results
