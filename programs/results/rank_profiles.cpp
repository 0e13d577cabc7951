#include <algorithm>
#include <map>

#include "programs/results/rank_sums.hpp"
#include "tally/output/analysis/profile_names.hpp"
#include "tally/output/analysis/profile_sums.hpp"
#include "tally/output/analysis/whole_functions.hpp"

namespace tally::results {
namespace {

using Functions = std::map<std::string, std::vector<std::int64_t>>;  // counts of each event

Functions functions_of(const result::Profile& of) {
  const output::WholeFunctions whole(of);
  const result::Profile& profile = whole.get();
  const std::vector<std::string> names = output::function_names(profile, false);
  Functions functions;
  for (const output::ProfileSum& sum : output::sums_of(profile, output::ProfileBy::function)) {
    std::vector<std::int64_t>& counts = functions[names[sum.function]];
    counts.resize(sum.counts.size());
    for (std::size_t e = 0; e < counts.size(); ++e) counts[e] += sum.counts[e];
  }
  return functions;
}

}  // namespace

std::vector<StoredResult> regions_of_profiles(const std::vector<StoredResult>& profiles, std::size_t most) {
  std::vector<Functions> ranks;
  std::map<std::string, std::int64_t> sums;  // of the first event
  for (const StoredResult& stored : profiles) {
    ranks.push_back(functions_of(std::get<result::Profile>(stored.result)));
    for (const auto& [function, counts] : ranks.back()) sums[function] += counts.empty() ? 0 : counts.front();
  }
  std::vector<std::pair<std::string, std::int64_t>> shown(sums.begin(), sums.end());
  std::ranges::stable_sort(shown, [](const auto& a, const auto& b) { return a.second > b.second; });
  if (most != 0 && shown.size() > most) shown.resize(most);
  std::vector<StoredResult> results;
  for (std::size_t rank = 0; rank < profiles.size(); ++rank) {
    result::Stat stat = std::get<result::Profile>(profiles[rank].result).stat;
    result::ProgramRegions program;
    for (const auto& [function, sum] : shown) {
      const auto counts = ranks[rank].find(function);
      RegionResult region{function, {}, {}};
      for (std::size_t e = 0; e < stat.events.size(); ++e) {
        RegionEvent event;
        event.event = stat.events[e].total.name;
        event.total = stat.events[e].total.count;
        if (event.total.value) event.total.value = counts == ranks[rank].end() ? 0 : counts->second[e];
        region.all.events.push_back(std::move(event));
      }
      program.regions.push_back(std::move(region));
    }
    if (stat.runs.empty()) stat.runs.emplace_back();
    stat.runs.back().regions = {std::move(program)};
    results.push_back({profiles[rank].name, std::move(stat)});
  }
  return results;
}

}  // namespace tally::results
