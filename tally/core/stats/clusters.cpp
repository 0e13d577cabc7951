#include "tally/core/stats/clusters.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "tally/core/stats/split_mix.hpp"

namespace tally::phase {
namespace {

using Points = std::vector<const double*>;
using Centers = std::vector<std::vector<double>>;

constexpr int most_rounds = 100;

/// A random index below `number`.
std::size_t below(std::size_t number, stats::SplitMix64& random) {
  return static_cast<std::size_t>(random.share() * static_cast<double>(number));
}

double distance(const double* a, const double* b, std::size_t dimensions) {
  double sum = 0;
  for (std::size_t i = 0; i < dimensions; ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

std::pair<std::size_t, double> nearest(const double* point, const Centers& centers) {
  std::pair<std::size_t, double> best{0, std::numeric_limits<double>::infinity()};
  for (std::size_t i = 0; i < centers.size(); ++i)
    if (const double far = distance(point, centers[i].data(), centers[i].size()); far < best.second) best = {i, far};
  return best;
}

// Draws one row from each of `count` equal ranges: evenly over the run, but not in step with a loop.
Points drawn(const Vectors& vectors, std::size_t most, stats::SplitMix64& random) {
  Points points;
  const std::size_t rows = vectors.rows(), count = std::min(rows, most);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t from = i * rows / count, to = (i + 1) * rows / count;
    points.push_back(&vectors.values[(from + below(to - from, random)) * vectors.dimensions]);
  }
  return points;
}

// Chooses distant points with high probability (k-means++: Arthur and Vassilvitskii, SODA 2007). Returns fewer centres
// if there are fewer distinct points.
Centers first_centers(const Points& points, std::size_t count, std::size_t dimensions, stats::SplitMix64& random) {
  const auto center = [&](std::size_t i) { return std::vector<double>(points[i], points[i] + dimensions); };
  Centers centers{center(below(points.size(), random))};
  std::vector<double> far(points.size(), std::numeric_limits<double>::infinity());
  while (centers.size() < count) {
    double sum = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      far[i] = std::min(far[i], distance(points[i], centers.back().data(), dimensions));
      sum += far[i];
    }
    if (sum <= 0) break;
    double left = random.share() * sum;
    std::size_t chosen = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (far[i] <= 0) continue;
      chosen = i;
      if ((left -= far[i]) < 0) break;
    }
    centers.push_back(center(chosen));
  }
  return centers;
}

struct Fit {
  Centers centers;
  std::vector<std::size_t> sizes;
  double squares = std::numeric_limits<double>::infinity();  // sum of squared distances from the centres
};

// Lloyd's algorithm: repeats until nothing changes. Drops a centre that loses all its points.
Fit fit(const Points& points, Centers centers, std::size_t dimensions) {
  Fit made;
  std::vector<std::size_t> of(points.size(), centers.size());
  for (int round = 0; round < most_rounds; ++round) {
    bool changed = false;
    made.squares = 0;
    made.sizes.assign(centers.size(), 0);
    Centers sums(centers.size(), std::vector<double>(dimensions));
    for (std::size_t i = 0; i < points.size(); ++i) {
      const auto [center, far] = nearest(points[i], centers);
      changed |= std::exchange(of[i], center) != center;
      made.squares += far;
      ++made.sizes[center];
      for (std::size_t d = 0; d < dimensions; ++d) sums[center][d] += points[i][d];
    }
    if (!changed) break;
    for (std::size_t i = centers.size(); i-- > 0;) {
      if (made.sizes[i] == 0) {
        centers.erase(centers.begin() + static_cast<std::ptrdiff_t>(i));
        made.sizes.erase(made.sizes.begin() + static_cast<std::ptrdiff_t>(i));
        continue;
      }
      for (std::size_t d = 0; d < dimensions; ++d) centers[i][d] = sums[i][d] / static_cast<double>(made.sizes[i]);
    }
  }
  made.centers = std::move(centers);
  return made;
}

Fit best_fit(const Points& points, std::size_t count, std::size_t dimensions, const Options& options) {
  Fit best;
  for (int start = 0; start < options.starts; ++start) {
    stats::SplitMix64 random(options.seed * 1000 + count * 100 + static_cast<std::uint64_t>(start));
    Fit one = fit(points, first_centers(points, count, dimensions, random), dimensions);
    if (one.squares < best.squares) best = std::move(one);
  }
  return best;
}

// The Bayesian information criterion for spherical clusters of equal variance (Pelleg and Moore: X-means, ICML 2000,
// section 3.2).
double score(const Fit& fit, std::size_t rows, std::size_t dimensions, double resolution) {
  const auto n = static_cast<double>(rows), m = static_cast<double>(dimensions),
             k = static_cast<double>(fit.centers.size());
  // Identical points have no variance; the measurement's resolution is used instead.
  const double variance = std::max(n > k ? fit.squares / (m * (n - k)) : 0, resolution * resolution);
  double likelihood = -n * m / 2 * std::log(2 * std::numbers::pi * variance) - m * (n - k) / 2;
  for (const std::size_t size : fit.sizes)
    likelihood += static_cast<double>(size) * std::log(static_cast<double>(size) / n);
  const double parameters = k - 1 + m * k + 1;
  return likelihood - parameters / 2 * std::log(n);
}

// Numbers the clusters in the order of their first rows.
void number(Clusters& made) {
  const std::size_t none = made.centers.size();
  std::vector<std::size_t> new_number(none, none);
  Centers centers;
  for (std::size_t& cluster : made.of_row) {
    if (new_number[cluster] == none) {
      new_number[cluster] = centers.size();
      centers.push_back(made.centers[cluster]);
    }
    cluster = new_number[cluster];
  }
  made.centers = std::move(centers);
}

}  // namespace

Clusters find_clusters(const Vectors& vectors, const Options& options) {
  Clusters made;
  const std::size_t rows = vectors.rows(), dimensions = vectors.dimensions;
  if (rows == 0) return made;
  stats::SplitMix64 random(options.seed);
  const Points points = drawn(vectors, options.sample, random);
  std::vector<Fit> fits;
  for (std::size_t count = 1; count <= options.most; ++count) {
    Fit one = best_fit(points, count, dimensions, options);
    if (one.centers.size() < count) break;
    made.scores.push_back(score(one, points.size(), dimensions, options.resolution));
    fits.push_back(std::move(one));
  }
  const auto [least, most] = std::minmax_element(made.scores.begin(), made.scores.end());
  const double enough = *least + options.share * (*most - *least);
  const auto chosen = std::find_if(made.scores.begin(), made.scores.end(), [&](double one) { return one >= enough; });
  made.centers = std::move(fits[static_cast<std::size_t>(chosen - made.scores.begin())].centers);
  for (std::size_t row = 0; row < rows; ++row)
    made.of_row.push_back(nearest(&vectors.values[row * dimensions], made.centers).first);
  number(made);
  made.sizes.assign(made.centers.size(), 0);
  made.representatives.assign(made.centers.size(), 0);
  std::vector<double> closest(made.centers.size(), std::numeric_limits<double>::infinity());
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t cluster = made.of_row[row];
    ++made.sizes[cluster];
    const double far = distance(&vectors.values[row * dimensions], made.centers[cluster].data(), dimensions);
    if (far < closest[cluster]) {
      closest[cluster] = far;
      made.representatives[cluster] = row;
    }
  }
  return made;
}

Vectors scaled(const Vectors& vectors, double least_share) {
  const std::size_t rows = vectors.rows(), dimensions = vectors.dimensions;
  std::vector<std::pair<std::size_t, double>> kept;  // a column and its divisor
  for (std::size_t d = 0; d < dimensions; ++d) {
    double sum = 0, squares = 0;
    for (std::size_t row = 0; row < rows; ++row) sum += vectors.values[row * dimensions + d];
    const double mean = rows == 0 ? 0 : sum / static_cast<double>(rows);
    for (std::size_t row = 0; row < rows; ++row) {
      const double off = vectors.values[row * dimensions + d] - mean;
      squares += off * off;
    }
    const double deviation = rows == 0 ? 0 : std::sqrt(squares / static_cast<double>(rows));
    // Rounding: the sum of N equal numbers is not always N times the number.
    if (deviation > 1e-12 * std::abs(mean)) kept.emplace_back(d, std::max(deviation, least_share * std::abs(mean)));
  }
  Vectors made{kept.size(), {}};
  for (std::size_t row = 0; row < rows; ++row)
    for (const auto& [d, by] : kept) made.values.push_back(vectors.values[row * dimensions + d] / by);
  return made;
}

}  // namespace tally::phase
