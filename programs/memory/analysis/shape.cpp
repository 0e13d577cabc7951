#include "programs/memory/analysis/shape.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <vector>

namespace tally::memory {
namespace {

double misses(Shape shape, double size, double capacity, double ways, double page_bytes) {
  switch (shape) {
    case Shape::step: return size > capacity ? 1 : 0;
    case Shape::random_replacement: return misses_random(size / capacity);
    case Shape::page_colours: return misses_colours(size / page_bytes, capacity / ways / page_bytes, ways);
    case Shape::next_line: return misses_next_line(size / capacity);
    case Shape::line_pair: return misses_line_pair(size / capacity);
  }
  return 0;
}

// If each miss fetches a neighbour, some loads hit however large the ring is, and the plateau above is lower than with
// misses only. So the scale of the shares is fitted too.
double scale_of(std::span<const Share> shares, const std::vector<double>& modelled) {
  double both = 0;
  double squares = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    both += shares[i].missed * modelled[i];
    squares += modelled[i] * modelled[i];
  }
  return squares > 0 ? std::clamp(both / squares, 1.0, 1.3) : 1;
}

double error_of(Shape shape, std::span<const Share> shares, double capacity, double ways, double page_bytes) {
  std::vector<double> modelled;
  for (const Share& one : shares) modelled.push_back(misses(shape, one.size_bytes, capacity, ways, page_bytes));
  const double scale = brings_neighbours(shape) ? scale_of(shares, modelled) : 1;
  double sum = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const double difference = shares[i].missed - scale * modelled[i];
    sum += difference * difference;
  }
  return std::sqrt(sum / static_cast<double>(shares.size()));
}

// Sizes within two octaves of the half-way one; the plateaus beyond them do not depend on the shape.
std::span<const Share> around_half(std::span<const Share> shares) {
  std::size_t half = 0;
  while (half + 1 < shares.size() && shares[half].missed < 0.5) ++half;
  std::size_t first = half;
  while (first > 0 && shares[first - 1].size_bytes >= shares[half].size_bytes / 4) --first;
  std::size_t last = half;
  while (last + 1 < shares.size() && shares[last + 1].size_bytes <= shares[half].size_bytes * 4) ++last;
  return shares.subspan(first, last - first + 1);
}

// Tries the capacity half-way between each size and the next, and takes the step with the smallest error.
Fit fit_step(std::span<const Share> all) {
  const auto shares = around_half(all);
  Fit best{Shape::step, shares.front().size_bytes, INFINITY, 1};
  for (std::size_t i = 0; i + 1 < shares.size(); ++i) {
    const double capacity = std::sqrt(shares[i].size_bytes * shares[i + 1].size_bytes);
    const double error = error_of(Shape::step, shares, capacity, 1, 1);
    if (error < best.error) best = {Shape::step, capacity, error, 1};
  }
  return best;
}

// Tries all capacities from `low` to `high`, in steps, because the error has several minima.
Fit best_between(Shape shape, std::span<const Share> shares, double ways, double page_bytes, double low, double high,
                 double step) {
  Fit best{shape, low, INFINITY, ways};
  const int steps = static_cast<int>(std::log(high / low) / std::log(step));
  for (int i = 0; i <= steps; ++i) {
    const double capacity = low * std::pow(step, i);
    if (shape == Shape::page_colours && capacity < 2 * ways * page_bytes) continue;
    const double error = error_of(shape, shares, capacity, ways, page_bytes);
    if (error < best.error) best = {shape, capacity, error, ways};
  }
  return best;
}

Fit fit_smooth(Shape shape, std::span<const Share> all, double ways, double page_bytes) {
  const auto shares = around_half(all);
  const Fit rough =
      best_between(shape, shares, ways, page_bytes, shares.front().size_bytes, shares.back().size_bytes, 1.04);
  return best_between(shape, shares, ways, page_bytes, rough.capacity_bytes / 1.05, rough.capacity_bytes * 1.05, 1.005);
}

// The share of loads of a set that miss, by its number of lines, up to eight times its ways.
std::vector<double> find_misses_of_sets(double ways) {
  std::vector<double> missed(static_cast<std::size_t>(8 * ways) + 1, 0.0);
  for (std::size_t lines = static_cast<std::size_t>(ways) + 1; lines < missed.size(); ++lines) {
    const double slope = static_cast<double>(lines - 1) * std::log1p(-1 / ways);
    double low = 1e-9;
    double high = 1;
    for (int i = 0; i < 40; ++i) {
      const double m = (low + high) / 2;
      (1 - m - std::exp(m * slope) > 0 ? low : high) = m;
    }
    missed[lines] = (low + high) / 2;
  }
  return missed;
}

// The same, computed once for each number of ways.
const std::vector<double>& misses_of_sets(double ways) {
  thread_local std::map<double, std::vector<double>> found;
  std::vector<double>& one = found[ways];
  if (one.empty()) one = find_misses_of_sets(ways);
  return one;
}

}  // namespace

std::string_view name(Shape shape) {
  switch (shape) {
    case Shape::step: return "step";
    case Shape::random_replacement: return "random replacement";
    case Shape::page_colours: return "page colours";
    case Shape::next_line: return "next line fetched";
    case Shape::line_pair: return "pairs of lines fetched";
  }
  return "step";
}

double misses_random(double x) {
  if (x <= 1) return 0;
  double low = 1e-9;
  double high = 1;
  // 1 − m − e^(−x·m) is positive below the root and negative above it.
  for (int i = 0; i < 40; ++i) {
    const double m = (low + high) / 2;
    (1 - m - std::exp(-x * m) > 0 ? low : high) = m;
  }
  return (low + high) / 2;
}

double misses_contiguous(double x, double ways) {
  const double beyond = (x - 1) * ways;  // the share of sets with one line too many
  if (beyond <= 0) return 0;
  return beyond >= 1 ? 1 : beyond * (1 + 1 / ways) / x;
}

double misses_colours(double pages, double colours, double ways) {
  const double others = pages - 1;
  if (others < ways || colours < 1) return 0;
  if (colours == 1) return 1;
  // P(Bin(others, 1/colours) < ways), term by term; `others` need not be a whole number, as the size of a ring is not.
  const double odds = 1 / (colours - 1);
  double term = std::exp(others * std::log1p(-1 / colours));
  double below = 0;
  for (int k = 0; k < static_cast<int>(ways); ++k) {
    below += term;
    term *= (others - k) / (k + 1) * odds;
  }
  return std::clamp(1 - below, 0.0, 1.0);
}

double misses_colours_random(double pages, double colours, double ways) {
  const double others = pages - 1;
  if (others < ways || colours < 1) return 0;
  const std::vector<double>& of_set = misses_of_sets(ways);
  if (colours == 1) return of_set[std::min(static_cast<std::size_t>(others) + 1, of_set.size() - 1)];
  const double odds = 1 / (colours - 1);
  double term = std::exp(others * std::log1p(-1 / colours));
  double missed = 0;
  double rest = 1;
  for (std::size_t k = 0; k + 1 < of_set.size() && static_cast<double>(k) <= others; ++k) {
    missed += term * of_set[k + 1];
    rest -= term;
    term *= (others - static_cast<double>(k)) / static_cast<double>(k + 1) * odds;
  }
  // Sets with more lines than that nearly always miss.
  return std::clamp(missed + std::max(rest, 0.0) * of_set.back(), 0.0, 1.0);
}

double misses_next_line(double x) { return x <= 1 ? 0 : 1 - 1 / (2 * x); }

double misses_line_pair(double x) {
  if (x <= 1) return 0;
  // The accesses within reach, as a share of the lap: they and the lines that they fetch fill the level.
  double low = 0;
  double high = 1;
  for (int i = 0; i < 40; ++i) {
    const double reach = (low + high) / 2;
    const double missed = std::max(0.5, 1 - reach);
    (reach * (1 + missed * (1 - reach)) < 1 / x ? low : high) = reach;
  }
  return std::max(0.5, 1 - low);
}

bool brings_neighbours(Shape shape) { return shape == Shape::next_line || shape == Shape::line_pair; }

Fit fit_one_shape(Shape shape, std::span<const Share> shares, double page_bytes) {
  if (shape == Shape::step) return fit_step(shares);
  if (shape != Shape::page_colours) return fit_smooth(shape, shares, 1, page_bytes);
  Fit best{shape, 0, INFINITY, 1};
  for (const double ways : usual_ways) {
    const Fit one = fit_smooth(shape, shares, ways, page_bytes);
    if (one.error < best.error) best = one;
  }
  return best;
}

Fit fit_again(const Fit& fit, std::span<const Share> shares, double page_bytes) {
  return fit.shape == Shape::step ? fit_step(shares) : fit_smooth(fit.shape, shares, fit.ways, page_bytes);
}

Fit fit_shape(std::span<const Share> shares, double page_bytes) {
  Fit best = fit_step(shares);
  // The other shapes follow a noisy step a little better, because they have more parameters.
  constexpr double clearly = 0.6;
  constexpr double good_enough = 0.03;
  if (best.error < good_enough) return best;
  const double limit = best.error * clearly;
  for (const Shape shape : {Shape::random_replacement, Shape::page_colours, Shape::next_line, Shape::line_pair}) {
    const Fit one = fit_one_shape(shape, shares, page_bytes);
    if (one.error < limit && one.error < best.error) best = one;
  }
  return best;
}

}  // namespace tally::memory
