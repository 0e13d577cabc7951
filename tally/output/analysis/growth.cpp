#include "tally/output/analysis/growth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tally/core/stats/ranks.hpp"

namespace tally::output {
namespace {

bool all_agree(const std::vector<double>& runs) {
  return std::all_of(runs.begin(), runs.end(), [&](double run) { return run == runs.front(); });
}

double growth_of_pair(double before, double after, bool more_is_better, bool is_relative) {
  const double growth = more_is_better ? before - after : after - before;
  if (!is_relative || growth == 0) return growth;
  if (before == 0) return std::copysign(std::numeric_limits<double>::infinity(), growth);
  return growth / std::abs(before);
}

std::vector<double> growths_of_pairs(const RepeatedValue& before, const RepeatedValue& after, bool more_is_better,
                                     bool is_relative) {
  std::vector<double> growths;
  growths.reserve(before.runs.size() * after.runs.size());
  for (const double from : before.runs)
    for (const double to : after.runs) growths.push_back(growth_of_pair(from, to, more_is_better, is_relative));
  return growths;
}

}  // namespace

GrowthOrReason growth_between(const RepeatedValue& before, const RepeatedValue& after, bool more_is_better,
                              bool is_relative) {
  const std::size_t fewest = std::min(before.runs.size(), after.runs.size());
  const bool are_repeatable = before.is_repeatable && after.is_repeatable;
  const bool agree = all_agree(before.runs) && all_agree(after.runs);
  const double first = growth_of_pair(before.runs.front(), after.runs.front(), more_is_better, is_relative);
  if (agree && before.runs.size() == 1 && after.runs.size() == 1) {
    const RepeatedValue& reader = before.sources.empty() ? after : before;
    if (are_repeatable && first != 0 && !reader.sources.empty())
      return fmt::format("one run on each side, and the program read what differs between runs ({}): {}",
                         reader.sources, reader.how_to_decide);
    if (are_repeatable) return Growth{first, first, "by one run each"};
    return "one run on each side: " + (before.is_repeatable ? after : before).how_to_decide;
  }
  if (agree && fewest >= 2 && (are_repeatable || first == 0 || fewest >= fewest_agreeing_runs))
    return Growth{first, first};
  if (agree && fewest >= 2)
    return fmt::format("{} runs that agree may do so by chance: count with --repeatable, or {} times (-r {})", fewest,
                       fewest_agreeing_runs, fewest_agreeing_runs);
  if (fewest < fewest_runs) return fmt::format("needs at least {} runs on each side (-r {})", fewest_runs, fewest_runs);
  std::vector<double> growths = growths_of_pairs(before, after, more_is_better, is_relative);
  const auto interval = *stats::interval_of_pairs(growths, before.runs.size(), after.runs.size());
  Growth growth{interval.low, interval.high};
  if (growth.is_point()) {
    // The runs do not agree, so it is no point: to the next values.
    const auto [low, high] = std::equal_range(growths.begin(), growths.end(), growth.low);
    if (low != growths.begin()) growth.low = *std::prev(low);
    if (high != growths.end()) growth.high = *high;
  }
  return growth;
}

LimitVerdict judge_growth(const Growth& growth, double limit) {
  if (growth.high <= limit) return LimitVerdict::within;
  return growth.low > limit ? LimitVerdict::above : LimitVerdict::unknown;
}

std::optional<std::size_t> runs_to_decide(const RepeatedValue& before, const RepeatedValue& after, bool more_is_better,
                                          bool is_relative, double limit) {
  // Quantiles of the normal distribution: 99.5 % for the interval, 80 % for the power.
  constexpr double z = 2.5758293035489004 + 0.8416212335729143;
  constexpr std::size_t most = 1000;
  const std::vector<double> growths = growths_of_pairs(before, after, more_is_better, is_relative);
  double above = 0;
  for (const double growth : growths) above += growth > limit ? 1 : growth == limit ? 0.5 : 0;
  const double distance = std::abs(above / static_cast<double>(growths.size()) - 0.5);
  const double runs = distance > 0 ? std::ceil(z * z / (6 * distance * distance)) : most + 1.0;
  if (runs > most) return std::nullopt;
  // No fewer than there are: they did not decide.
  const auto next = std::max(before.runs.size(), after.runs.size()) + 1;
  return std::max({static_cast<std::size_t>(runs), fewest_runs, next});
}

}  // namespace tally::output
