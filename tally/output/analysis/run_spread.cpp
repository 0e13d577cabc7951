#include "tally/output/analysis/run_spread.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "tally/core/base/text.hpp"
#include "tally/output/analysis/profile_names.hpp"
#include "tally/output/analysis/whole_functions.hpp"

namespace tally::output {
namespace {

using CountsOfRuns = std::map<FunctionId, std::vector<std::int64_t>>;

/// The functions of a profile by the names of `whole`, which is that profile or one of whole functions.
CountsOfRuns counts_of(const result::Profile& whole) {
  const std::vector<FunctionId> ids = function_ids(whole);
  const std::size_t events = whole.event_count();
  CountsOfRuns counts;
  for (std::size_t i = 0; i < whole.rows.size(); ++i) {
    std::vector<std::int64_t>& sums = counts[ids[whole.rows[i].function]];
    sums.resize(events);
    for (std::size_t e = 0; e < events; ++e) sums[e] += whole.count(i, e);
  }
  return counts;
}

}  // namespace

void add_spread(result::Profile& profile, const std::vector<result::Profile>& others, bool whole_names) {
  profile.runs = 1 + others.size();
  const WholeFunctions whole(profile);
  const CountsOfRuns own = counts_of(whole_names ? profile : whole.get());
  CountsOfRuns least = own, most = own;
  for (const result::Profile& other : others) {
    const WholeFunctions whole_of_other(other);
    const CountsOfRuns counts = counts_of(whole_names ? other : whole_of_other.get());
    for (const auto& [id, sums] : own) {
      const auto counted = counts.find(id);
      for (std::size_t e = 0; e < sums.size(); ++e) {
        const std::int64_t count = counted == counts.end() || e >= counted->second.size() ? 0 : counted->second[e];
        least[id][e] = std::min(least[id][e], count);
        most[id][e] = std::max(most[id][e], count);
      }
    }
  }
  const std::vector<FunctionId> ids = function_ids(whole_names ? profile : whole.get());
  for (std::uint32_t f = 0; f < profile.functions.size(); ++f) {
    const FunctionId& id = ids[whole_names ? f : whole.index_of(f)];
    if (least[id] == most[id]) continue;
    profile.functions[f].least = least[id];
    profile.functions[f].most = most[id];
  }
}

std::string spread_text(const result::ProfileFunction& function, std::size_t event) {
  if (function.least.empty() || function.least[event] == function.most[event]) return "";
  const auto least = static_cast<double>(function.least[event]), most = static_cast<double>(function.most[event]);
  return least > 0 ? "+" + percent_text(100 * (most - least) / least)
                   : fmt::format("0 to {}", thousands(function.most[event]));
}

std::string runs_line(const result::Profile& profile) {
  if (profile.runs < 2 || profile.stat.events.empty()) return "";
  std::set<FunctionId> differing;
  const std::vector<FunctionId> ids = function_ids(profile);
  for (std::uint32_t f = 0; f < ids.size(); ++f)
    if (!profile.functions[f].least.empty()) differing.insert(ids[f]);
  return fmt::format("{} runs: counts are those of the run with the median of {}; {} between runs{}", profile.runs,
                     profile.stat.events.front().total.name.text(),
                     differing.empty()
                         ? "no function differs"
                         : plural(static_cast<int>(differing.size()), "function differs", "functions differ"),
                     differing.empty() ? "" : "; spread: from the lowest count to the highest");
}

}  // namespace tally::output
