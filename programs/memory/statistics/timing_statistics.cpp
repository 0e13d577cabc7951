#include "programs/memory/statistics/timing_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tally::memory {

double quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double position = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (position - static_cast<double>(below)) * (values[above] - values[below]);
}

std::vector<double> medians_by_column(const std::vector<std::vector<double>>& rows) {
  std::vector<std::vector<double>> columns;
  for (const auto& row : rows) {
    columns.resize(std::max(columns.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) columns[i].push_back(row[i]);
  }
  std::vector<double> medians;
  for (auto& values : columns) medians.push_back(median(std::move(values)));
  return medians;
}

double median_deviation(const std::vector<double>& values) {
  const double middle = median(values);
  std::vector<double> deviations;
  deviations.reserve(values.size());
  for (const double value : values) deviations.push_back(std::abs(value - middle));
  return median(std::move(deviations));
}

double kolmogorov_smirnov(std::vector<double> a, std::vector<double> b) {
  if (a.empty() || b.empty()) return 1;
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  const auto n1 = static_cast<double>(a.size());
  const auto n2 = static_cast<double>(b.size());
  double distance = 0;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    const double value = std::min(a[i], b[j]);
    while (i < a.size() && a[i] == value) ++i;
    while (j < b.size() && b[j] == value) ++j;
    distance = std::max(distance, std::abs(static_cast<double>(i) / n1 - static_cast<double>(j) / n2));
  }
  const double root = std::sqrt(n1 * n2 / (n1 + n2));
  const double lambda = (root + 0.12 + 0.11 / root) * distance;
  // The alternating series does not converge for a small distance; the answer is 1 there.
  if (lambda < 0.3) return 1;
  double p = 0;
  double sign = 2;
  for (int term = 1; term <= 100; ++term, sign = -sign) {
    const double part = std::exp(-2.0 * term * term * lambda * lambda);
    p += sign * part;
    if (part < 1e-12) break;
  }
  return std::clamp(p, 0.0, 1.0);
}

Line fit_line(std::span<const double> x, std::span<const double> y) {
  const auto n = static_cast<double>(x.size());
  double mean_x = 0;
  double mean_y = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    mean_x += x[i] / n;
    mean_y += y[i] / n;
  }
  double xx = 0;
  double xy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    xy += (x[i] - mean_x) * (y[i] - mean_y);
  }
  const double slope = xy / xx;
  return {mean_y - slope * mean_x, slope};
}

std::vector<bool> outliers(const std::vector<double>& durations) {
  const double deviation = median_deviation(durations);
  const double middle = median(durations);
  // Interrupts of the timer and of the hypervisor make a batch of 0.5 ms some percent longer. Such batches stay: they
  // do not move a median.
  const double limit = middle + std::max(6 * deviation, 0.05 * middle);
  std::vector<bool> out;
  out.reserve(durations.size());
  for (const double duration : durations) out.push_back(duration > limit);
  return out;
}

}  // namespace tally::memory
