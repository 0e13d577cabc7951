#include "tally/output/analysis/run_spread.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tally/core/base/text.hpp"
#include "tally/output/analysis/profile_names.hpp"
#include "tally/output/analysis/profile_sums.hpp"

namespace tally::output {
namespace {

using CountsOfRuns = std::map<FunctionId, std::vector<std::int64_t>>;

CountsOfRuns counts_of(const result::Profile& profile) {
  const std::vector<FunctionId> ids = function_ids(profile);
  CountsOfRuns counts;
  for (const ProfileSum& sum : sums_of(profile, ProfileBy::function)) {
    std::vector<std::int64_t>& sums = counts[ids[sum.function]];
    sums.resize(profile.event_count());
    for (std::size_t e = 0; e < sums.size(); ++e) sums[e] += sum.counts[e];
  }
  return counts;
}

}  // namespace

std::set<std::string> add_spread(result::Profile& profile, const std::vector<result::Profile>& others) {
  profile.runs = 1 + others.size();
  const CountsOfRuns own = counts_of(profile);
  CountsOfRuns least = own, most = own;
  std::set<std::string> elsewhere;
  for (const result::Profile& other : others) {
    const CountsOfRuns counts = counts_of(other);
    for (const auto& [id, sums] : own) {
      if (id.first == result::kernel_code) continue;  // of a native run, as the events that `other` lacks
      const auto counted = counts.find(id);
      for (std::size_t e = 0; e < std::min(sums.size(), other.event_count()); ++e) {
        const std::int64_t count = counted == counts.end() ? 0 : counted->second[e];
        least[id][e] = std::min(least[id][e], count);
        most[id][e] = std::max(most[id][e], count);
      }
    }
    for (const auto& [id, sums] : counts)
      if (!own.contains(id)) elsewhere.insert(id.second);
  }
  const std::vector<FunctionId> ids = function_ids(profile);
  for (std::uint32_t f = 0; f < profile.functions.size(); ++f) {
    if (least[ids[f]] == most[ids[f]]) continue;
    profile.functions[f].least = least[ids[f]];
    profile.functions[f].most = most[ids[f]];
  }
  return elsewhere;
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
