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
  bool of_functions = false;  ///< regions are functions of profiles, which have no entries
  const char* rows_of() const { return of_functions ? "function" : "region"; }
};

/// Results whose regions are functions of these profiles: the `most` with most of the first event in all ranks; 0: all.
/// Functions of one name are one.
std::vector<StoredResult> regions_of_profiles(const std::vector<StoredResult>& profiles, std::size_t most);

/// Makes the only result of a job, `tally stat -- mpirun …`, one result for each rank, with its regions and how
/// the job ended.
void split_job(std::vector<StoredResult>& results);

/// Removes native results (backend none) of ranks that were also counted, and computes the metrics of the regions of
/// those with their times: the task-clock of the regions.
void join_native_job(std::vector<StoredResult>& results);

/// Adds the metrics of the results to their sums. `results`: one for each of the names.
void add_metrics_of_ranks(RankSums& sums, const std::vector<StoredResult>& results);

/// Adds up results of `tally stat` and of regions, one for each rank. Several programs of one rank are one.
/// `of_functions`: as in RankSums.
RankSums sums_of_ranks(const std::vector<StoredResult>& results, bool of_functions = false);

/// The sums as text; `terminal`: columns of the terminal that shows it, 0: none.
std::string ranks_table(const RankSums& sums, std::size_t terminal);
/// A row for each event and region (RFC 4180).
std::string ranks_csv(const RankSums& sums);
/// One JSON object, of the schema tally-ranks/1.
std::string ranks_json(const RankSums& sums, const result::Provenance& provenance);

}  // namespace tally::results
