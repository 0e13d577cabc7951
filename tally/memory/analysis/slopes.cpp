#include "tally/memory/analysis/slopes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "tally/memory/analysis/shape.hpp"

namespace tally::memory {
namespace {

constexpr std::size_t terms = 3;
enum Term : std::size_t { translation, miss, drain };
using Row = std::array<double, terms>;

// In ns, each size with the same weight: page colours scatter where the rise is steep, whatever a load takes there.
struct Equation {
  Row factors{};
  double value = 0;
};

std::vector<Equation> equations(std::span<const Timing> timings, const RiseSurroundings& around, double capacity,
                                double ways) {
  std::vector<Equation> all;
  all.reserve(timings.size());
  for (const Timing& one : timings) {
    const double missed = misses_colours(one.size_bytes / around.page_bytes, capacity / ways / around.page_bytes, ways);
    const double untranslated = around.reach_bytes > 0 ? std::max(0.0, 1 - around.reach_bytes / one.size_bytes) : 0;
    all.push_back({{untranslated, missed, missed * one.size_bytes * one.ns}, one.ns - around.below_ns});
  }
  return all;
}

// The least squares of the terms that are in use, by the normal equations and Gauss's elimination, without pivots: they
// are positive definite. A term that changes nothing is 0.
Row least_squares(const std::vector<Equation>& equations, const std::array<bool, terms>& used) {
  std::array<std::array<double, terms + 1>, terms> normal{};
  for (const Equation& one : equations) {
    for (std::size_t i = 0; i < terms; ++i) {
      for (std::size_t k = 0; k < terms; ++k) normal[i][k] += one.factors[i] * one.factors[k];
      normal[i][terms] += one.factors[i] * one.value;
    }
  }
  Row solution{};
  std::array<bool, terms> solved{};
  for (std::size_t i = 0; i < terms; ++i) {
    solved[i] = used[i] && normal[i][i] > 0;
    if (!solved[i]) continue;
    for (std::size_t row = 0; row < terms; ++row) {
      if (row == i) continue;
      const double factor = normal[row][i] / normal[i][i];
      for (std::size_t k = 0; k <= terms; ++k) normal[row][k] -= factor * normal[i][k];
    }
  }
  for (std::size_t i = 0; i < terms; ++i) solution[i] = solved[i] ? normal[i][terms] / normal[i][i] : 0;
  return solution;
}

// The same without negative ones: the one that is most so is left out, until none is.
Row positive_least_squares(const std::vector<Equation>& equations) {
  std::array<bool, terms> used{true, true, true};
  for (;;) {
    const Row solution = least_squares(equations, used);
    // Relative to what they add: the drain is a small number.
    std::size_t worst = terms;
    double least = 0;
    for (std::size_t i = 0; i < terms; ++i) {
      const double added = solution[i] * equations.back().factors[i];
      if (added < least) {
        least = added;
        worst = i;
      }
    }
    if (worst == terms) return solution;
    used[worst] = false;
  }
}

double error_of(const std::vector<Equation>& equations, const Row& solution) {
  double sum = 0;
  for (const Equation& one : equations) {
    double difference = -one.value;
    for (std::size_t i = 0; i < terms; ++i) difference += solution[i] * one.factors[i];
    sum += difference * difference;
  }
  return std::sqrt(sum / static_cast<double>(equations.size()));
}

SlopingRise rise_of(std::span<const Timing> timings, const RiseSurroundings& around, double capacity, double ways) {
  const auto all = equations(timings, around, capacity, ways);
  const Row solution = positive_least_squares(all);
  const double middle_ns = std::sqrt(timings.front().ns * timings.back().ns);
  return {capacity, ways, solution[translation], solution[miss], solution[drain], error_of(all, solution) / middle_ns};
}

// All capacities from `low` to `high`, in steps: the error may have several minima.
void keep_best(std::optional<SlopingRise>& best, std::span<const Timing> timings, const RiseSurroundings& around,
               double ways, double low, double high, double step) {
  const int steps = static_cast<int>(std::log(high / low) / std::log(step));
  for (int i = 0; i <= steps; ++i) {
    const double capacity = low * std::pow(step, i);
    if (capacity < 2 * ways * around.page_bytes) continue;
    const SlopingRise one = rise_of(timings, around, capacity, ways);
    if (one.miss_ns > 0 && (!best || one.error < best->error)) best = one;
  }
}

std::optional<SlopingRise> fit_with(std::span<const double> all_ways, std::span<const Timing> timings,
                                    const RiseSurroundings& around) {
  if (timings.size() <= terms + 2) return std::nullopt;
  std::optional<SlopingRise> best;
  for (const double ways : all_ways) {
    keep_best(best, timings, around, ways, timings.front().size_bytes, timings.back().size_bytes, 1.04);
  }
  if (!best) return best;
  const SlopingRise rough = *best;
  keep_best(best, timings, around, rough.ways, rough.capacity_bytes / 1.04, rough.capacity_bytes * 1.04, 1.005);
  return best;
}

}  // namespace

std::optional<SlopingRise> fit_slopes(std::span<const Timing> timings, const RiseSurroundings& around) {
  return fit_with(usual_ways, timings, around);
}

std::optional<SlopingRise> fit_slopes_again(const SlopingRise& rise, std::span<const Timing> timings,
                                            const RiseSurroundings& around) {
  return fit_with({&rise.ways, 1}, timings, around);
}

}  // namespace tally::memory
