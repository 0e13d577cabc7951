// Slow growth: how much the level of a series changed over its last results, although no step was above a limit.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "programs/results/history_series.hpp"
#include "programs/results/result_commands.hpp"
#include "tally/core/base/result.hpp"

namespace tally::results {

/// "2%/20", "instructions=2%/20": the most that a count may grow over its last results.
struct GrowthLimit {
  std::string text;         ///< "2%/20"
  std::string event = {};   ///< with or without mode; empty: every exact and modelled count
  double limit = 0;         ///< 0.02
  std::size_t results = 0;  ///< 20
};

/// Whether a text of a gate is a GrowthLimit.
bool is_growth_limit(const std::string& text);

/// Errors: bad_usage.
Result<GrowthLimit> parse_growth_limit(const std::string& text);

/// The change of a series from the result `results` before its last one to that, or from a later result whose change
/// was accepted. Of exact counts these values; of others the levels that change points separate.
struct SeriesGrowth {
  double before = 0, after = 0;
  std::size_t results = 0;                ///< fewer than requested if the series is shorter
  std::vector<SeriesChange> steps = {};   ///< increases since then, the largest first
  std::vector<std::string> commits = {};  ///< of each step: entry_text()
  std::string accepted = {};              ///< "#12 (reason)": the accepted result at which it begins; empty: none
  double relative() const { return before == 0 ? 0 : after / before - 1; }
};

/// Empty for a series of one result.
std::optional<SeriesGrowth> growth_of(const HistorySeries& series, std::size_t results);

/// Whether the limit is one of the series.
bool is_limited(const HistorySeries& series, const GrowthLimit& limit);

/// "+1.00 % over the last 20 results: +0.60 % at 703b6f084e4f, +0.40 % at 1c9f…".
std::string growth_text(const SeriesGrowth& growth);

}  // namespace tally::results
