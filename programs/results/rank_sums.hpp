// What the processes of a parallel job counted, compared with each other: one file of results for each rank.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "programs/results/result_commands.hpp"
#include "programs/results/stored_result.hpp"
#include "tally/core/count/count.hpp"
#include "tally/core/count/event_name.hpp"

namespace tally::results {

/// One event in one region, over all ranks. `least`, `most` and `mean` are of the ranks that have a value.
struct RankRow {
  std::string region;  ///< empty: the whole program
  EventName event;
  Unit unit = Unit::events;
  std::size_t ranks = 0;          ///< that have a value
  std::size_t without_value = 0;  ///< ranks that have the region and no value
  Count sum = {};                 ///< partial if another rank has no value
  std::int64_t least = 0, most = 0;
  std::size_t least_rank = 0, most_rank = 0;  ///< indices in RankSums::names
  double mean = 0;
  /// How much more than the mean the rank with the most has: 0.25 for a quarter; nothing if the mean is 0.
  std::optional<double> imbalance() const {
    return mean == 0 ? std::nullopt : std::optional((static_cast<double>(most) - mean) / mean);
  }
};

/// A metric in one region, over all ranks that have a value.
struct RankMetric {
  std::string region;  ///< empty: the whole program
  std::string name, unit, formula;
  Ratio of_sums = {};  ///< from the sums of its events; absent with a time, because ranks run at the same time
  std::size_t ranks = 0;
  double least = 0, most = 0;
  std::size_t least_rank = 0, most_rank = 0;  ///< indices in RankSums::names
};

/// A rank that did not end by itself with exit code 0: its counts end there.
struct EarlyEnd {
  std::size_t rank = 0;  ///< index in RankSums::names
  std::string how;       ///< "killed by SIGTERM"
};

struct RankSums {
  std::vector<std::string> names;  ///< of the ranks: "rank 3"; of a result that does not say its rank, its file's name
  std::vector<RankRow> rows;       ///< the whole program first, then regions in the order of their first entry
  std::vector<RankMetric> metrics = {};  ///< by region, in the same order
  std::vector<EarlyEnd> early_ends = {};
};

/// Adds the metrics of the results to their sums. `results`: one for each of the names.
void add_metrics_of_ranks(RankSums& sums, const std::vector<StoredResult>& results);

/// Adds up results of `tally stat` and of regions, one for each rank. Several programs of one rank are one.
RankSums sums_of_ranks(const std::vector<StoredResult>& results);

/// The sums as text; `terminal`: columns of the terminal that shows it, 0: none.
std::string ranks_table(const RankSums& sums, std::size_t terminal);
/// A row for each event and region (RFC 4180).
std::string ranks_csv(const RankSums& sums);
/// One JSON object, of the schema tally-ranks/1.
std::string ranks_json(const RankSums& sums, const result::Provenance& provenance);

}  // namespace tally::results
