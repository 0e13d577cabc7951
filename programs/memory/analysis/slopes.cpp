#include "programs/memory/analysis/slopes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "programs/memory/analysis/shape.hpp"

namespace tally::memory {
namespace {

// Terms of a timing: missed translations, misses, and evictions by other cores.
constexpr std::size_t translation = 0;
constexpr std::size_t miss = 1;
constexpr std::size_t drain = 2;
constexpr std::size_t terms = 3;
using Row = std::array<double, terms>;

// A ring: the factors of its terms (the drain is also multiplied by the ring's time), and its time without them.
struct Ring {
  Row factors{};
  double base_ns = 0;
  double ns = 0;  // measured
};

// A level to try.
struct Candidate {
  double capacity = 0;
  double ways = 0;
  Mixture mixture;
};

std::vector<Ring> rings(std::span<const Timing> timings, const RiseSurroundings& around, const Candidate& level) {
  const FirstTranslations& known = around.translations;
  std::vector<Ring> all;
  all.reserve(timings.size());
  for (const Timing& one : timings) {
    const double missed = misses_of(level.mixture, one.size_bytes, level.capacity, level.ways, around.page_bytes);
    const double untranslated = known.reach_bytes > 0 ? std::max(0.0, 1 - known.reach_bytes / one.size_bytes) : 0;
    all.push_back({{known.miss_ns > 0 ? 0 : untranslated, missed, missed * one.size_bytes},
                   around.below_ns + known.miss_ns * untranslated,
                   one.ns});
  }
  return all;
}

// One equation of the linear problem.
struct Equation {
  Row factors{};
  double value = 0;
};

// Least squares of the terms in use: normal equations and Gaussian elimination without pivoting, because they are
// positive definite. A term without effect is 0.
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

// Least squares without negative terms: drops the most negative term until there is none.
Row positive_least_squares(const std::vector<Equation>& equations) {
  std::array<bool, terms> used{true, true, true};
  for (;;) {
    const Row solution = least_squares(equations, used);
    // Relative to its contribution to the time, because the drain is a small number.
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

// If all lines are evicted before the next lap, the lap time diverges.
constexpr double least_kept = 0.05;

// The formula of SlopingRise, solved for t, which is on both sides.
struct Solved {
  double kept = 0;  // 1 - m·drain·R
  double ns = 0;
};

std::optional<Solved> solved(const Ring& ring, const Row& solution) {
  const auto [u, m, d] = ring.factors;
  const double kept = 1 - solution[drain] * d;
  if (kept < least_kept) return std::nullopt;
  return Solved{kept, (ring.base_ns + solution[translation] * u + solution[miss] * m) / kept};
}

// Gauss-Newton with weights that turn squared differences into absolute ones: page colours scatter where the rise is
// steep, sometimes far. The first round uses the measured t on both sides, which favours large drains.
std::optional<Row> solve(const std::vector<Ring>& all) {
  constexpr int rounds = 10;
  constexpr double least_difference_ns = 0.02;
  Row solution{};
  for (int round = 0; round < rounds; ++round) {
    std::vector<Equation> equations;
    equations.reserve(all.size());
    for (const Ring& ring : all) {
      const auto now = round == 0 ? std::optional(Solved{1, ring.ns}) : solved(ring, solution);
      if (!now) return std::nullopt;
      const auto [u, m, d] = ring.factors;
      const double difference = ring.ns - now->ns;
      const double weight = round == 0 ? 1 : 1 / std::sqrt(std::max(std::abs(difference), least_difference_ns));
      const double scale = weight / now->kept;
      equations.push_back(
          {{scale * u, scale * m, scale * d * now->ns}, weight * difference + scale * (now->ns - ring.base_ns)});
    }
    solution = positive_least_squares(equations);
  }
  return solution;
}

// Mean absolute error in ns.
std::optional<double> error_of(const std::vector<Ring>& all, const Row& solution) {
  double sum = 0;
  for (const Ring& ring : all) {
    const auto now = solved(ring, solution);
    if (!now) return std::nullopt;
    sum += std::abs(ring.ns - now->ns);
  }
  return sum / static_cast<double>(all.size());
}

std::optional<SlopingRise> rise_of(std::span<const Timing> timings, const RiseSurroundings& around,
                                   const Candidate& level) {
  const auto all = rings(timings, around, level);
  const auto solution = solve(all);
  if (!solution || (*solution)[miss] <= 0) return std::nullopt;
  const auto error = error_of(all, *solution);
  if (!error) return std::nullopt;
  const double middle_ns = std::sqrt(timings.front().ns * timings.back().ns);
  const FirstTranslations& known = around.translations;
  return SlopingRise{.capacity_bytes = level.capacity,
                     .ways = level.ways,
                     .translation_ns = known.miss_ns > 0 ? known.miss_ns : (*solution)[translation],
                     .miss_ns = (*solution)[miss],
                     .drain = (*solution)[drain],
                     .mixture = level.mixture,
                     .error = *error / middle_ns};
}

constexpr double coarse = 1.04;

struct Candidates {
  Mixture mixture;
  double clearly = 1;  // its error must be below this share of the best error so far
};

// Later mixtures explain scattered timings a little better than the mixture that produced them. With random replacement
// in all sets a level seems a fifth smaller than with half of that.
constexpr std::array mixtures{Candidates{{0, 0}}, Candidates{{0.5, 0}}, Candidates{{1, 0}}, Candidates{{0, 0.5}, 0.86},
                              Candidates{{0, 1}, 0.86}};

// Tries all capacities from `low` to `high`, in steps, because the error may have several minima.
void keep_best(std::optional<SlopingRise>& best, std::span<const Timing> timings, const RiseSurroundings& around,
               Candidate level, double low, double high, double step) {
  const int steps = static_cast<int>(std::log(high / low) / std::log(step));
  for (int i = 0; i <= steps; ++i) {
    level.capacity = low * std::pow(step, i);
    if (level.capacity < 2 * level.ways * around.page_bytes) continue;
    const auto one = rise_of(timings, around, level);
    if (one && (!best || one->error < best->error)) best = one;
  }
}

}  // namespace

double misses_of(const Mixture& mixture, double size_bytes, double capacity_bytes, double ways, double page_bytes) {
  const double pages = size_bytes / page_bytes;
  const double colours = capacity_bytes / ways / page_bytes;
  const double oldest = 1 - mixture.contiguous - mixture.random;
  double missed = 0;
  if (oldest > 0) missed += oldest * misses_colours(pages, colours, ways);
  if (mixture.contiguous > 0) missed += mixture.contiguous * misses_contiguous(size_bytes / capacity_bytes, ways);
  if (mixture.random > 0) missed += mixture.random * misses_colours_random(pages, colours, ways);
  return missed;
}

bool is_slope(double below_ns, double above_ns) { return above_ns < 1.25 * below_ns; }

std::optional<SlopingRise> fit_slopes(std::span<const Timing> timings, const RiseSurroundings& around,
                                      std::optional<Mixture> mixture) {
  if (timings.size() <= terms + 2) return std::nullopt;
  std::vector<SlopingRise> found;
  std::optional<SlopingRise> best;
  for (const auto& [one, clearly] : mixtures) {
    if (mixture && *mixture != one) continue;
    if (one.contiguous > 0 && !around.contiguous) continue;
    std::optional<SlopingRise> of_one;
    for (const double ways : usual_ways) {
      keep_best(of_one, timings, around, {0, ways, one}, timings.front().size_bytes, timings.back().size_bytes, coarse);
    }
    if (!of_one) continue;
    found.push_back(*of_one);
    // Without contiguous frames the rise alone shows the replacement policy.
    if (!best || of_one->error < (around.contiguous ? clearly : 1) * best->error) best = of_one;
  }
  if (!best) return best;
  const SlopingRise rough = *best;
  keep_best(best, timings, around, {0, rough.ways, rough.mixture}, rough.capacity_bytes / coarse,
            rough.capacity_bytes * coarse, 1.005);
  best->least_bytes = best->capacity_bytes;
  best->most_bytes = best->capacity_bytes;
  for (const SlopingRise& other : found) {
    if (other.error >= best->error) continue;
    best->least_bytes = std::min(best->least_bytes, other.capacity_bytes);
    best->most_bytes = std::max(best->most_bytes, other.capacity_bytes);
  }
  // If the best capacity is the first or last that was tried, the real one is outside.
  const bool inside = best->capacity_bytes > timings.front().size_bytes * coarse &&
                      best->capacity_bytes < timings.back().size_bytes / coarse;
  // Misses must be visible; otherwise any capacity fits.
  const bool rises = timings.back().ns > 1.1 * (around.below_ns + best->translation_ns);
  return inside && rises ? best : std::nullopt;
}

}  // namespace tally::memory
