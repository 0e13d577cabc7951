#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "programs/results/rank_sums.hpp"
#include "tally/core/count/metric.hpp"
#include "tally/tools/command/command.hpp"
#include "tally/tools/roofline/make_roofline.hpp"

namespace tally::results {
namespace {

using Programs = std::vector<result::ProgramRegions>;

const Programs* programs_of(const StoredResult& stored) {
  const auto* const stat = std::get_if<result::Stat>(&stored.result);
  return stat == nullptr || stat->runs.empty() ? nullptr : &stat->runs.back().regions;
}

std::set<std::int32_t> ranks_of(const Programs& programs) {
  std::set<std::int32_t> ranks;
  for (const result::ProgramRegions& program : programs)
    if (program.rank) ranks.insert(*program.rank);
  return ranks;
}

/// The metrics of regions that lack a time, as they were requested.
std::vector<MetricChoice> requested_metrics(const Programs& programs) {
  std::vector<MetricChoice> metrics;
  for (const result::ProgramRegions& program : programs)
    for (const RegionResult& region : program.regions)
      for (const RegionMetric& metric : region.all.metrics) {
        auto formula = Formula::parse(metric.formula);
        if (!metric.asked || !formula) continue;
        MetricChoice choice{metric.name, metric.unit, metric.row_event.text(), *std::move(formula), Mode::user, true};
        if (std::ranges::find(metrics, choice) == metrics.end()) metrics.push_back(std::move(choice));
      }
  return metrics;
}

bool is_native(const StoredResult& stored) {
  const auto* const stat = std::get_if<result::Stat>(&stored.result);
  return stat != nullptr && stat->backend == "none";
}

}  // namespace

void split_job(std::vector<StoredResult>& results) {
  if (results.size() != 1) return;
  const Programs* const all = programs_of(results.front());
  if (all == nullptr || ranks_of(*all).size() < 2) return;
  const auto& job = std::get<result::Stat>(results.front().result);
  std::vector<StoredResult> ranks;
  for (const std::int32_t rank : ranks_of(*all)) {
    result::Stat stat;
    stat.incomplete = job.incomplete;
    stat.interrupted_by = job.interrupted_by;
    stat.runs.push_back(job.runs.back());
    std::erase_if(stat.runs.back().regions,
                  [&](const result::ProgramRegions& program) { return program.rank != rank; });
    ranks.push_back({results.front().name, std::move(stat)});
  }
  results = std::move(ranks);
}

void join_native_job(std::vector<StoredResult>& results) {
  for (std::size_t i = results.size(); i-- > 0;) {
    const Programs* const times = programs_of(results[i]);
    if (!is_native(results[i]) || times == nullptr || ranks_of(*times).size() != 1) continue;
    const auto counted = std::ranges::find_if(results, [&](const StoredResult& other) {
      const Programs* const counts = programs_of(other);
      return !is_native(other) && counts != nullptr && ranks_of(*counts) == ranks_of(*times);
    });
    if (counted == results.end()) continue;
    auto& stat = std::get<result::Stat>(counted->result);
    const std::vector<result::Run> without_times = stat.runs;
    roofline::add_native(stat, std::get<result::Stat>(results[i].result).runs,
                         requested_metrics(stat.runs.back().regions));
    if (stat.runs == without_times)
      command::say({fmt::format("rank {}: no metric of a region uses its native result", *ranks_of(*times).begin()),
                    "count the job with -M GFLOPS, and with the regions of the native job"});
    results.erase(results.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

}  // namespace tally::results
