#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "programs/discovery/analysis/robust.hpp"
#include "programs/discovery/analysis/steps.hpp"
#include "tally/core/base/text.hpp"

namespace tally::discover {
namespace {

// Counts of one event in the screening runs: a row per run, a column per counter.
struct Screened {
  std::vector<std::vector<std::int64_t>> rows;
};

std::vector<Screened> screened(const Record& record) {
  std::vector<Screened> all(record.events.size());
  const auto counters = static_cast<std::size_t>(std::max(record.counters, 1));
  for (const Run& run : record.runs) {
    if (run.stage != Run::Stage::screen) continue;
    std::set<std::size_t> begun;
    for (const Cell& cell : run.cells) {
      if (begun.insert(cell.event).second) all[cell.event].rows.emplace_back(counters, 0);
      all[cell.event].rows.back()[static_cast<std::size_t>(std::max(cell.counter, 0))] = cell.count;
    }
  }
  return all;
}

// Whether two counters of one run differ: they start and stop one after the other, and each has noise.
bool differ(double a, double b) { return std::abs(a - b) > 0.02 * std::max(a, b) + 16; }

// Whether a counter differs from the median of those that count, in most runs.
bool disagrees(const Screened& screened, std::size_t counter, const std::vector<int>& alive) {
  int compared = 0, off = 0;
  for (const auto& row : screened.rows) {
    std::vector<double> values;
    for (const int one : alive) values.push_back(static_cast<double>(row[static_cast<std::size_t>(one)]));
    const double middle = median(values);
    if (middle < 100) continue;
    ++compared;
    off += differ(static_cast<double>(row[counter]), middle);
  }
  return compared > 0 && 2 * off > compared;
}

}  // namespace

std::vector<Affinity> affinities(const Record& record) {
  std::vector<Affinity> answer(record.events.size());
  const std::vector<Screened> all = screened(record);
  for (std::size_t event = 0; event < all.size(); ++event) {
    std::vector<std::int64_t> sums(static_cast<std::size_t>(std::max(record.counters, 1)), 0);
    for (const auto& row : all[event].rows) {
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += row[i];
    }
    Affinity& one = answer[event];
    const std::int64_t most = *std::max_element(sums.begin(), sums.end());
    one.alive = most > 0;
    if (record.counters == 0 || !one.alive) continue;
    // A counter that cannot count an event shows exactly 0.
    for (std::size_t i = 0; i < sums.size(); ++i) {
      if (sums[i] > 0) one.counters.push_back(static_cast<int>(i));
    }
    std::vector<std::string> odd;
    for (const int counter : one.counters) {
      if (one.counters.size() > 2 && disagrees(all[event], static_cast<std::size_t>(counter), one.counters)) {
        odd.push_back(std::to_string(counter));
      }
    }
    if (!odd.empty()) one.suspicion = fmt::format("counter {} disagrees with the others", join(odd, ", "));
  }
  return answer;
}

std::vector<Liar> liars(const Record& record, const std::vector<Affinity>& affinities) {
  std::vector<Liar> found;
  const std::vector<Screened> all = screened(record);
  for (int counter = 0; counter < record.counters; ++counter) {
    Liar one{counter, 0, 0};
    for (std::size_t event = 0; event < all.size(); ++event) {
      const auto& alive = affinities[event].counters;
      if (alive.size() < 3 || std::find(alive.begin(), alive.end(), counter) == alive.end()) continue;
      ++one.of;
      one.disagreed += disagrees(all[event], static_cast<std::size_t>(counter), alive);
    }
    if (one.of >= 3 && 2 * one.disagreed > one.of) found.push_back(one);
  }
  return found;
}

}  // namespace tally::discover
