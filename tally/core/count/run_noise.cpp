#include "tally/core/count/run_noise.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace tally {
namespace {

/// The most that the whole machine can drift; a larger change is the program's.
constexpr double most_drift = 0.3;
/// The chance that a comparison of a program with itself reports a change.
constexpr double chance_of_any = 0.01;
/// A median of fewer rows is not meaningful.
constexpr std::size_t enough_rows = 4;
/// The median of the squares of standard normal variables.
constexpr double median_of_squares = 0.4549364;

/// The number of standard deviations that is exceeded with this chance, on one side.
double deviations_of(double chance) {
  double low = 0, high = 40;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (std::erfc(middle / std::sqrt(2.0)) / 2 > chance ? low : high) = middle;
  }
  return low;
}

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The variance of a count from independent sampling alone.
double variance(const SampledCount& one) {
  if (one.samples <= 0 || one.whole <= 0) return 0;
  const double share = std::clamp(one.count / one.whole, 0.0, 1.0);
  return one.whole * one.whole * share * (1 - share) / one.samples;
}

/// The number of samples in the count.
double samples_of(const SampledCount& one) { return one.whole > 0 ? one.samples * one.count / one.whole : 0; }

/// Whether both sides have enough samples for a ratio.
bool has_ratio(const SampledRow& row) {
  constexpr double enough = 10;
  return row.before.count > 0 && row.after.count > 0 && (row.before.samples <= 0 || samples_of(row.before) >= enough) &&
         (row.after.samples <= 0 || samples_of(row.after) >= enough);
}

/// An upper limit for the median of the squares of N standard normal variables: their median plus half its standard
/// deviation.
double usual_median(std::size_t rows) {
  return median_of_squares * (1 + 1.15 / std::sqrt(static_cast<double>(std::max<std::size_t>(rows, 1))));
}

/// The deviation of a row from the drift, relative to its size, and the variance of that from sampling.
struct Deviation {
  double relative, variance;
};

Deviation deviation(const SampledRow& row, double drift) {
  const double expected = row.before.count * drift, size = (expected + row.after.count) / 2;
  return {(row.after.count - expected) / size,
          (variance(row.after) + drift * drift * variance(row.before)) / (size * size)};
}

double standardized(const Deviation& one, double spread) {
  return one.relative * one.relative / (one.variance + spread * spread);
}

std::vector<bool> outliers(const std::vector<SampledRow>& rows, double drift, double least_spread) {
  constexpr double far = 2.5 * 2.5;
  std::vector<bool> are;
  for (const SampledRow& row : rows) are.push_back(standardized(deviation(row, drift), least_spread) > far);
  return are;
}

/// The factor of the sum of the rows, without those that differ from the others.
double drift_of(const std::vector<SampledRow>& rows, double least_spread) {
  constexpr int rounds = 8;
  double drift = 1;
  std::vector<bool> left_out(rows.size());
  for (int round = 0; round < rounds; ++round) {
    double before = 0, after = 0, all = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      all += rows[i].before.count;
      if (left_out[i]) continue;
      before += rows[i].before.count;
      after += rows[i].after.count;
    }
    if (before * 3 < all) break;  // most of the program changed: the remaining rows are not representative
    drift = after / before;
    std::vector<bool> now = outliers(rows, drift, least_spread);
    if (now == left_out) break;
    left_out = std::move(now);
  }
  // Assume no drift if that leaves no more rows changed.
  const auto count = [](const std::vector<bool>& are) { return std::count(are.begin(), are.end(), true); };
  return count(outliers(rows, 1, least_spread)) <= count(outliers(rows, drift, least_spread)) ? 1 : drift;
}

/// The smallest spread that explains the rows' differences. Uses rows with enough samples.
double spread_of(const std::vector<SampledRow>& rows, double drift, double least_spread) {
  constexpr double reported_by = 0.05 * 0.05;
  std::vector<Deviation> deviations;
  for (const SampledRow& row : rows)
    if (const Deviation one = deviation(row, drift); one.variance < reported_by) deviations.push_back(one);
  if (deviations.size() < enough_rows) return least_spread;
  double low = least_spread, high = 1;
  const auto is_enough = [&](double spread) {
    std::vector<double> squares;
    for (const Deviation& one : deviations) squares.push_back(standardized(one, spread));
    return median_of(std::move(squares)) <= usual_median(deviations.size());
  };
  if (is_enough(low)) return low;
  for (int i = 0; i < 30; ++i) {
    const double middle = (low + high) / 2;
    (is_enough(middle) ? high : low) = middle;
  }
  return high;
}

Estimate estimate(const SampledCount& one, const RunNoise& noise) {
  if (one.samples <= 0) return {one.count, one.count, one.count};
  if (one.whole <= 0) return {0, 0, 0};
  const ShareInterval share =
      share_interval(std::clamp(one.count / one.whole, 0.0, 1.0), one.samples / noise.dispersion, noise.z);
  return {one.count, share.low * one.whole, share.high * one.whole};
}

}  // namespace

RunNoise run_noise(const std::vector<SampledRow>& rows, double least_spread) {
  RunNoise noise;
  noise.z = deviations_of(chance_of_any / 2 / static_cast<double>(std::max<std::size_t>(rows.size(), 1)));
  noise.spread = least_spread;
  std::vector<SampledRow> in_both;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(in_both), has_ratio);
  if (in_both.empty()) return noise;
  const double drift = drift_of(in_both, least_spread);
  noise.drift = std::clamp(drift, 1 - most_drift, 1 + most_drift);
  noise.spread = spread_of(in_both, drift, least_spread);
  // With fewer rows, bursts of samples and changes cannot be distinguished.
  if (in_both.size() < enough_rows) return noise;
  std::vector<double> squares;
  for (const SampledRow& row : in_both) squares.push_back(standardized(deviation(row, drift), noise.spread));
  noise.dispersion = std::max(1.0, median_of(std::move(squares)) / usual_median(in_both.size()));
  return noise;
}

Estimate difference(const SampledRow& row, const RunNoise& noise) {
  const Estimate before = estimate(row.before, noise), after = estimate(row.after, noise);
  const double by = row.after.count - row.before.count;
  const double spread = noise.z * noise.spread * (row.before.count + row.after.count) / 2;
  Estimate made{by, by, by};
  for (const double drift : {1.0, noise.drift}) {
    const Estimate plain = difference(after, {before.value * drift, before.low * drift, before.high * drift});
    made.low = std::min(made.low, plain.value - std::hypot(plain.value - plain.low, spread));
    made.high = std::max(made.high, plain.value + std::hypot(plain.high - plain.value, spread));
  }
  return made;
}

}  // namespace tally
