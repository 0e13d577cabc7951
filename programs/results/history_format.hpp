// Formats of `tally history`.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "programs/results/result_commands.hpp"
#include "tally/output/kinds/format.hpp"
#include "tally/output/result/history_result.hpp"

namespace tally::results {

/// A format of histories. `terminal`: columns; 0: the output is not a terminal.
struct HistoryFormat : Format {
  std::string (*write)(const result::History& history, const result::Provenance& provenance, std::size_t terminal);
};

/// All formats, the default first.
std::span<const HistoryFormat> history_formats();

/// The stored results, one row each.
std::string history_list(const result::History& history, std::size_t terminal);

/// A row with the trend of each series, and the changes.
std::string history_table(const result::History& history, const result::Provenance& provenance, std::size_t terminal);
std::string history_json(const result::History& history, const result::Provenance& provenance, std::size_t terminal);
/// The last values, for github-action-benchmark: customSmallerIsBetter.
std::string benchmark_action_json(const result::History& history, const result::Provenance& provenance,
                                  std::size_t terminal);
/// Bencher Metric Format: benchmark, measure, value with bounds.
std::string bencher_json(const result::History& history, const result::Provenance& provenance, std::size_t terminal);

}  // namespace tally::results
