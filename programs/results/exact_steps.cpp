#include "programs/results/exact_steps.hpp"

#include <algorithm>
#include <cmath>

namespace tally::results {
namespace {

// Fewest steps of an alternation and of a creep: two steps are a spike, or two changes.
constexpr std::size_t fewest_steps = 3;

/// Equal values that follow each other.
struct Level {
  std::int64_t value;
  std::size_t first;  ///< index
  std::size_t count;
};

using Levels = std::vector<Level>;

Levels levels_of(std::span<const std::int64_t> values) {
  Levels levels;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (levels.empty() || levels.back().value != values[i]) levels.push_back({values[i], i, 0});
    ++levels.back().count;
  }
  return levels;
}

/// The difference, without overflow.
long double distance(const Level& from, const Level& to) {
  return static_cast<long double>(to.value) - static_cast<long double>(from.value);
}

/// The index after the last level that alternates with the one at `begin`.
std::size_t end_of_alternation(const Levels& levels, std::size_t begin) {
  std::size_t end = std::min(begin + 2, levels.size());
  while (end < levels.size() && levels[end].value == levels[end - 2].value) ++end;
  return end;
}

/// Whether a step is larger than another one that continues in its direction.
bool exceeds(long double step, long double next) { return (step > 0) != (next > 0) || std::abs(step) > std::abs(next); }

bool is_spike(const Levels& levels, std::size_t at) {
  if (at == 0 || at + 1 >= levels.size() || levels[at].count != 1) return false;
  const long double in = distance(levels[at - 1], levels[at]), out = distance(levels[at], levels[at + 1]);
  if ((in > 0) == (out > 0) || std::abs(in) <= std::abs(in + out) || std::abs(out) <= std::abs(in + out)) return false;
  // The top of a slope is no spike.
  return (at < 2 || exceeds(in, distance(levels[at - 2], levels[at - 1]))) &&
         (at + 2 >= levels.size() || exceeds(out, distance(levels[at + 1], levels[at + 2])));
}

void add_level(Levels& to, const Level& level) {
  if (to.empty() || to.back().value != level.value) to.push_back(level);
}

/// Adds the alternations and spikes. Returns the levels without the spikes.
Levels add_returns(const Levels& levels, std::vector<SeriesPattern>& patterns) {
  Levels rest;
  std::size_t alternating = 0;  // levels before this one belong to an alternation
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const std::size_t end = end_of_alternation(levels, i);
    if (end - i > fewest_steps && end > alternating) {
      patterns.push_back({Pattern::alternation, levels[i + 1].first, levels[end - 1].first, end - i - 1,
                          levels[i].value, levels[i + 1].value});
      alternating = end;
    }
    if (i >= alternating && is_spike(levels, i))
      patterns.push_back({Pattern::spike, levels[i].first, levels[i].first, 2, levels[i - 1].value, levels[i].value});
    else
      add_level(rest, levels[i]);
  }
  return rest;
}

/// Adds the creeps of levels that all rise or all fall. A larger step divides them: it is no creep.
void add_creeps(std::span<const Level> levels, std::vector<SeriesPattern>& patterns) {
  if (levels.size() <= fewest_steps) return;
  std::size_t largest = 1;
  for (std::size_t i = 2; i < levels.size(); ++i)
    if (std::abs(distance(levels[i - 1], levels[i])) > std::abs(distance(levels[largest - 1], levels[largest])))
      largest = i;
  const long double whole = distance(levels.front(), levels.back());
  if (2 * std::abs(distance(levels[largest - 1], levels[largest])) > std::abs(whole)) {
    add_creeps(levels.first(largest), patterns);
    add_creeps(levels.subspan(largest), patterns);
    return;
  }
  patterns.push_back({Pattern::creep, levels[1].first, levels.back().first, levels.size() - 1, levels.front().value,
                      levels.back().value});
}

/// The index of the last level up to which the steps from `begin` have one direction.
std::size_t end_of_direction(const Levels& levels, std::size_t begin) {
  std::size_t last = std::min(begin + 1, levels.size() - 1);
  while (last + 1 < levels.size() &&
         (levels[last].value < levels[last + 1].value) == (levels[begin].value < levels[begin + 1].value))
    ++last;
  return last;
}

}  // namespace

std::string_view name(Pattern pattern) {
  return pattern == Pattern::spike ? "spike" : pattern == Pattern::alternation ? "alternation" : "creep";
}

std::vector<std::size_t> steps_of(std::span<const std::int64_t> values) {
  std::vector<std::size_t> steps;
  for (std::size_t i = 1; i < values.size(); ++i)
    if (values[i] != values[i - 1]) steps.push_back(i);
  return steps;
}

std::vector<SeriesPattern> patterns_of(std::span<const std::int64_t> values) {
  std::vector<SeriesPattern> patterns;
  const Levels levels = add_returns(levels_of(values), patterns);
  for (std::size_t begin = 0; begin + 1 < levels.size();) {
    const std::size_t last = end_of_direction(levels, begin);
    add_creeps(std::span(levels).subspan(begin, last - begin + 1), patterns);
    begin = last;
  }
  std::stable_sort(patterns.begin(), patterns.end(),
                   [](const SeriesPattern& a, const SeriesPattern& b) { return a.first < b.first; });
  return patterns;
}

}  // namespace tally::results
