#include "programs/memory/analysis/levels.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "programs/memory/analysis/slopes.hpp"
#include "programs/memory/statistics/seeded_random.hpp"
#include "programs/memory/statistics/timing_statistics.hpp"

namespace tally::memory {
namespace {

// The unflagged points, and their indices in the curve.
struct SoundPoints {
  std::vector<double> log_ns;
  std::vector<std::size_t> at;
};

SoundPoints sound_points(const Curve& curve) {
  SoundPoints sound;
  for (std::size_t i = 0; i < curve.size(); ++i) {
    if (curve[i].flagged || curve[i].ns <= 0) continue;
    sound.log_ns.push_back(std::log2(curve[i].ns));
    sound.at.push_back(i);
  }
  return sound;
}

// The noise from one point to the next, assuming that most neighbours are on one plateau. 0.954 = 0.6745·√2 converts
// the median to the standard deviation of a normal distribution; no timing has less noise than half a percent.
double noise_of(const std::vector<double>& y) {
  std::vector<double> steps;
  for (std::size_t i = 1; i < y.size(); ++i) steps.push_back(std::abs(y[i] - y[i - 1]));
  return std::max(0.007, median(std::move(steps)) / 0.954);
}

// The same from three neighbours each, so that a slope does not count as noise. 1.652 = 0.6745·√6.
double roughness_of(const std::vector<double>& y) {
  std::vector<double> bends;
  for (std::size_t i = 2; i < y.size(); ++i) bends.push_back(std::abs(y[i] - 2 * y[i - 1] + y[i - 2]));
  return median(std::move(bends)) / 1.652;
}

// The ends (exclusive) of the ranges that optimal partitioning cuts the series into.
std::vector<std::size_t> partition(const std::vector<double>& y) {
  const std::size_t n = y.size();
  const double sigma = noise_of(y);
  // The constant keeps very clean curves in few ranges.
  const double penalty = 3 * sigma * sigma * std::log(static_cast<double>(n)) + 0.01;
  std::vector<double> sum(n + 1);
  std::vector<double> squares(n + 1);
  for (std::size_t i = 0; i < n; ++i) {
    sum[i + 1] = sum[i] + y[i];
    squares[i + 1] = squares[i] + y[i] * y[i];
  }
  const auto cost = [&](std::size_t from, std::size_t to) {
    const double total = sum[to] - sum[from];
    return squares[to] - squares[from] - total * total / static_cast<double>(to - from);
  };
  std::vector<double> best(n + 1, std::numeric_limits<double>::infinity());
  std::vector<std::size_t> before(n + 1, 0);
  best[0] = -penalty;
  for (std::size_t to = 2; to <= n; ++to) {
    for (std::size_t from = 0; from + 2 <= to; ++from) {
      const double candidate = best[from] + cost(from, to) + penalty;
      if (candidate < best[to]) {
        best[to] = candidate;
        before[to] = from;
      }
    }
  }
  std::vector<std::size_t> ends;
  for (std::size_t end = n; end > 0; end = before[end]) ends.push_back(end);
  std::reverse(ends.begin(), ends.end());
  return ends;
}

struct PointRange {
  std::size_t from = 0;
  std::size_t to = 0;  // exclusive
  double level = 0;    // log2
};

double level_of(const std::vector<double>& y, std::size_t from, std::size_t to) {
  return median({y.begin() + static_cast<std::ptrdiff_t>(from), y.begin() + static_cast<std::ptrdiff_t>(to)});
}

// Joins neighbours that differ by less than 10 %, the closest first, so that a long slope is not absorbed from one end.
std::vector<PointRange> joined(std::vector<PointRange> ranges, const std::vector<double>& y) {
  const double limit = std::log2(1.10);
  while (ranges.size() > 1) {
    std::size_t closest = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i + 1 < ranges.size(); ++i) {
      const double distance = std::abs(ranges[i + 1].level - ranges[i].level);
      if (distance < least) {
        least = distance;
        closest = i;
      }
    }
    if (least >= limit) break;
    PointRange& one = ranges[closest];
    one.to = ranges[closest + 1].to;
    one.level = level_of(y, one.from, one.to);
    ranges.erase(ranges.begin() + static_cast<std::ptrdiff_t>(closest) + 1);
  }
  return ranges;
}

// Shrinks a range until it is flat, because its ends may belong to the rises around it. The limit grows with the noise:
// among some ten points the extremes are three standard deviations apart.
PointRange flat_part(PointRange range, const std::vector<double>& y, double roughness) {
  const double limit = std::log2(1.15) + 3 * roughness;
  while (range.to - range.from > 2) {
    const auto [low, high] = std::minmax_element(y.begin() + static_cast<std::ptrdiff_t>(range.from),
                                                 y.begin() + static_cast<std::ptrdiff_t>(range.to));
    if (*high - *low < limit) break;
    const double level = level_of(y, range.from, range.to);
    if (std::abs(y[range.from] - level) > std::abs(y[range.to - 1] - level)) {
      ++range.from;
    } else {
      --range.to;
    }
  }
  return range;
}

// The median of each value and its neighbours, so that one disturbed size is not a rise.
std::vector<double> smoothed(const std::vector<double>& y) {
  std::vector<double> smooth = y;
  for (std::size_t i = 1; i + 1 < y.size(); ++i) smooth[i] = median({y[i - 1], y[i], y[i + 1]});
  return smooth;
}

// The widest part of [from, to) with a gentle slope. Caches after which translations miss slope by some 0.2 (log2 of
// latency) per octave, the rise between two levels by 1 and more. Empty if none is an octave wide.
PointRange gentle_part(std::size_t from, std::size_t to, const std::vector<double>& y,
                       const std::vector<double>& octaves, double roughness) {
  constexpr double gentlest = 0.3;
  PointRange widest;
  double width = 1;
  for (std::size_t first = from; first < to; ++first) {
    double low = y[first];
    double high = y[first];
    for (std::size_t last = first + 1; last < to; ++last) {
      low = std::min(low, y[last]);
      high = std::max(high, y[last]);
      const double wide = octaves[last] - octaves[first];
      if (wide < width || high - low > std::log2(1.15) + 3 * roughness + gentlest * (wide - 0.75)) continue;
      width = wide;
      widest = {first, last + 1, 0};
    }
  }
  return widest;
}

// Whether a range is neither the end of the plateau below nor the beginning of the one above.
bool is_distinct(const PointRange& range, const PointRange& below, const PointRange& above,
                 const std::vector<double>& y) {
  if (range.from == range.to) return false;
  const double level = level_of(y, range.from, range.to);
  const double least = std::log2(1.5);
  return level - level_of(y, below.from, below.to) >= least && level_of(y, above.from, above.to) - level >= least;
}

double value_at(const Curve& curve, std::size_t i) { return curve[i].ns; }

// Latency of a plateau: the median of `value` over its unflagged points.
template <class Value>
double level_by(const Curve& curve, const Plateau& plateau, Value value) {
  std::vector<double> values;
  for (std::size_t i = plateau.first; i <= plateau.last; ++i) {
    if (!curve[i].flagged) values.push_back(value(i));
  }
  return median(std::move(values));
}

// The share of the rise that each point from the plateau below to the one above has reached.
template <class Value>
std::vector<Share> shares_of(const Curve& curve, const Plateau& below, const Plateau& above, Value value) {
  const double low = level_by(curve, below, value);
  const double high = level_by(curve, above, value);
  std::vector<Share> shares;
  for (std::size_t i = below.first; i <= above.last; ++i) {
    if (!curve[i].flagged) shares.push_back({curve[i].size_bytes, (value(i) - low) / (high - low)});
  }
  return shares;
}

// The latency of a point in one bootstrap sample: mappings and batches are drawn from the measured ones.
double resampled_ns(const CurvePoint& point, Random& random) {
  if (point.mappings.empty()) return point.ns;
  std::vector<double> medians;
  for (std::size_t i = 0; i < point.mappings.size(); ++i) {
    const std::vector<double>& batches = point.mappings[random.uniform(0, point.mappings.size() - 1)];
    if (batches.empty()) continue;
    std::vector<double> drawn;
    drawn.reserve(batches.size());
    for (std::size_t k = 0; k < batches.size(); ++k) drawn.push_back(batches[random.uniform(0, batches.size() - 1)]);
    medians.push_back(median(std::move(drawn)));
  }
  return medians.empty() ? point.ns : median(std::move(medians));
}

bool has_batches(const Curve& curve) {
  return std::any_of(curve.begin(), curve.end(), [](const CurvePoint& point) { return !point.mappings.empty(); });
}

// The capacities that `capacity_of` finds in `draws` bootstrap samples around a known capacity.
std::vector<double> bootstrap(const Curve& curve, double around_bytes, int draws,
                              const std::function<std::optional<double>(const std::vector<double>& ns)>& capacity_of) {
  Random random(1);
  std::vector<double> capacities;
  for (int draw = 0; draw < draws; ++draw) {
    std::vector<double> ns;
    ns.reserve(curve.size());
    for (const CurvePoint& point : curve) {
      // More than two octaves away from the rise, points do not affect it.
      const double distance = point.size_bytes / around_bytes;
      ns.push_back(distance > 0.25 && distance < 4 ? resampled_ns(point, random) : point.ns);
    }
    if (const auto capacity = capacity_of(ns)) capacities.push_back(*capacity);
  }
  return capacities;
}

void widen(Capacity& capacity, const std::vector<double>& drawn) {
  if (drawn.empty()) return;
  capacity.low_bytes = std::min(capacity.low_bytes, quantile(drawn, 0.025));
  capacity.high_bytes = std::max(capacity.high_bytes, quantile(drawn, 0.975));
}

// Converts the error of a model to an uncertainty in size: where curves are steep, they rise by about the share by
// which the ring grows.
void state_unexplained(Capacity& capacity, double error) {
  const double unsure = std::clamp(1.5 * error, 0.05, 0.11);
  capacity.low_bytes = capacity.bytes / (1 + unsure);
  capacity.high_bytes = capacity.bytes * (1 + unsure);
}

// Fitting a smooth shape takes some milliseconds.
constexpr int draws_of_smooth = 50;
constexpr int draws_of_steps = 1000;

// The timings from a plateau to the next within two octaves of the half-way size, and after it while they rise no more
// than a slope: a disturbed plateau ends early, and evictions by other cores show late.
std::vector<Timing> timings_of(const Curve& curve, const Plateau& below, const Plateau& above, double half_bytes,
                               const std::vector<double>& ns) {
  std::vector<Timing> timings;
  for (std::size_t i = below.first; i < curve.size(); ++i) {
    if (curve[i].flagged) continue;
    if (i > above.last && !is_slope(above.ns, curve[i].ns)) break;
    const double distance = curve[i].size_bytes / half_bytes;
    if (ns[i] > 0 && distance >= 0.25 && distance <= 4) {
      timings.push_back({curve[i].size_bytes, ns[i]});
    }
  }
  return timings;
}

// The capacity of page colours among slopes. Empty if the fit fails, or if a rise without slopes explains the timings
// nearly as well (`unsloped_ns`: its error).
std::optional<Capacity> sloping_capacity(const Curve& curve, const Plateau& below, const Plateau& above,
                                         const RiseSurroundings& around, Capacity capacity, double unsloped_ns) {
  const auto fit = [&](const std::vector<double>& ns, const std::optional<Mixture>& mixture) {
    const double below_ns = level_by(curve, below, [&](std::size_t i) { return ns[i]; });
    return fit_slopes(timings_of(curve, below, above, capacity.half_bytes, ns),
                      {below_ns, around.page_bytes, around.translations, around.contiguous}, mixture);
  };
  std::vector<double> seen;
  for (const CurvePoint& point : curve) seen.push_back(point.ns);
  const auto found = fit(seen, {});
  if (!found) return std::nullopt;
  const double middle_ns = std::sqrt(below.ns * above.ns);
  if (capacity.shape != Shape::page_colours && found->error * middle_ns > 0.6 * unsloped_ns) return std::nullopt;
  capacity.shape = Shape::page_colours;
  capacity.bytes = found->capacity_bytes;
  capacity.with_slopes = true;
  state_unexplained(capacity, found->error);
  capacity.low_bytes = std::min(capacity.low_bytes, found->least_bytes);
  capacity.high_bytes = std::max(capacity.high_bytes, found->most_bytes);
  if (!has_batches(curve)) return capacity;
  const auto drawn = bootstrap(curve, capacity.bytes, draws_of_smooth, [&](const auto& ns) -> std::optional<double> {
    const auto again = fit(ns, found->mixture);
    return again ? std::optional(again->capacity_bytes) : std::nullopt;
  });
  // If many bootstrap samples have no capacity, the interval is unknown.
  if (drawn.size() < draws_of_smooth * 9 / 10) return std::nullopt;
  widen(capacity, drawn);
  return capacity;
}

}  // namespace

double middle_bytes(const Curve& curve, const Plateau& plateau) {
  return std::sqrt(curve[plateau.first].size_bytes * curve[plateau.last].size_bytes);
}

std::vector<Plateau> find_plateaus(const Curve& curve) {
  const SoundPoints sound = sound_points(curve);
  if (sound.at.size() < 4) return {};
  std::vector<PointRange> ranges;
  std::size_t from = 0;
  for (const std::size_t end : partition(sound.log_ns)) {
    ranges.push_back({from, end, level_of(sound.log_ns, from, end)});
    from = end;
  }
  const double roughness = roughness_of(sound.log_ns);
  const auto octaves_of = [&](const PointRange& range) {
    return std::log2(curve[sound.at[range.to - 1]].size_bytes / curve[sound.at[range.from]].size_bytes);
  };
  std::vector<PointRange> flat;
  for (const PointRange& range : joined(std::move(ranges), sound.log_ns)) {
    const PointRange part = flat_part(range, sound.log_ns, roughness);
    if (octaves_of(part) >= 0.75) flat.push_back(part);
  }
  std::vector<double> octaves;
  for (const std::size_t at : sound.at) octaves.push_back(std::log2(curve[at].size_bytes));
  const std::vector<double> smooth = smoothed(sound.log_ns);
  std::vector<Plateau> plateaus;
  const auto add = [&](const PointRange& range) {
    plateaus.push_back(
        {sound.at[range.from], sound.at[range.to - 1], std::exp2(level_of(sound.log_ns, range.from, range.to))});
  };
  for (std::size_t i = 0; i < flat.size(); ++i) {
    // Only between two flat ranges can a slope be distinguished from a rise.
    if (i > 0) {
      const PointRange gentle = gentle_part(flat[i - 1].to, flat[i].from, smooth, octaves, roughness);
      if (is_distinct(gentle, flat[i - 1], flat[i], sound.log_ns)) add(gentle);
    }
    add(flat[i]);
  }
  return plateaus;
}

Rise find_rise(const Curve& curve, const Plateau& below, const Plateau& above) {
  Rise rise;
  const double middle = (below.ns + above.ns) / 2;
  std::vector<double> spread;
  for (std::size_t i = below.first; i <= below.last; ++i) spread.push_back(curve[i].ns / below.ns);
  // 1.4826·MAD is the standard deviation of a normal distribution.
  const double limit = below.ns * (1 + std::max(0.05, 3 * 1.4826 * median_deviation(spread)));
  std::size_t last_low = below.last;
  for (std::size_t i = below.last; i <= above.first; ++i) {
    if (curve[i].flagged) continue;
    if (curve[i].ns <= limit) rise.knee_bytes = curve[i].size_bytes;
    if (curve[i].ns < middle) last_low = i;
    if (curve[i].ns >= middle) break;
  }
  if (rise.knee_bytes == 0) rise.knee_bytes = curve[below.last].size_bytes;
  std::size_t first_high = last_low + 1;
  while (first_high < above.first && (curve[first_high].flagged || curve[first_high].ns < middle)) ++first_high;
  const double from = value_at(curve, last_low);
  const double to = value_at(curve, first_high);
  const double part = to > from ? std::clamp((middle - from) / (to - from), 0.0, 1.0) : 0.5;
  rise.below_bytes = curve[last_low].size_bytes;
  rise.beyond_bytes = curve[first_high].size_bytes;
  rise.half_bytes = rise.below_bytes * std::pow(rise.beyond_bytes / rise.below_bytes, part);
  return rise;
}

Fit fit_rise(const Curve& curve, const Plateau& below, const Plateau& above, double page_bytes) {
  return fit_shape(shares_of(curve, below, above, [&](std::size_t i) { return curve[i].ns; }), page_bytes);
}

namespace {

Capacity capacity_of(const Curve& curve, const Plateau& below, const Plateau& above, const RiseSurroundings& around) {
  const Rise rise = find_rise(curve, below, above);
  const Fit fit = fit_rise(curve, below, above, around.page_bytes);
  Capacity capacity{fit.capacity_bytes, 0, 0, fit.shape, rise.half_bytes, rise.knee_bytes};
  if (fit.shape != Shape::step) {
    const double unsloped_ns = fit.error * (above.ns - below.ns);
    if (const auto sloping = sloping_capacity(curve, below, above, around, capacity, unsloped_ns)) return *sloping;
  }
  if (fit.shape == Shape::step) {
    capacity.bytes = std::clamp(rise.half_bytes, rise.below_bytes, rise.beyond_bytes);
    capacity.low_bytes = rise.below_bytes;
    capacity.high_bytes = rise.beyond_bytes;
  } else {
    state_unexplained(capacity, fit.error);
  }
  if (!has_batches(curve)) return capacity;
  const int draws = fit.shape == Shape::step ? draws_of_steps : draws_of_smooth;
  widen(capacity, bootstrap(curve, fit.capacity_bytes, draws, [&](const auto& ns) -> std::optional<double> {
          const auto shares = shares_of(curve, below, above, [&](std::size_t i) { return ns[i]; });
          return fit_again(fit, shares, around.page_bytes).capacity_bytes;
        }));
  return capacity;
}

}  // namespace

Capacity find_capacity(const Curve& curve, const Plateau& below, const Plateau& above, double page_bytes,
                       const FirstTranslations& translations) {
  return capacity_of(curve, below, above, {below.ns, page_bytes, translations});
}

Capacity find_scattered_capacity(const Curve& curve, const Plateau& below, const Plateau& above) {
  constexpr double line_bytes = 64;
  return capacity_of(curve, below, above, {.below_ns = below.ns, .page_bytes = line_bytes, .contiguous = false});
}

std::vector<std::uint64_t> sizes_between(const Curve& curve, double low, double high, double ratio,
                                         std::uint64_t line_bytes) {
  std::vector<std::uint64_t> sizes;
  for (std::size_t i = 0; i + 1 < curve.size(); ++i) {
    const double from = curve[i].size_bytes;
    const double to = curve[i + 1].size_bytes;
    if (to <= low || from >= high || to / from <= ratio) continue;
    const auto line = static_cast<double>(line_bytes);
    const auto middle = static_cast<std::uint64_t>(std::round(std::sqrt(from * to) / line)) * line_bytes;
    if (static_cast<double>(middle) > from && static_cast<double>(middle) < to) sizes.push_back(middle);
  }
  return sizes;
}

std::vector<std::uint64_t> size_grid(std::uint64_t first, std::uint64_t last, int per_octave,
                                     std::uint64_t line_bytes) {
  std::vector<std::uint64_t> sizes;
  for (int step = 0;; ++step) {
    const double size = static_cast<double>(first) * std::exp2(static_cast<double>(step) / per_octave);
    const auto lines = static_cast<std::uint64_t>(std::llround(size / static_cast<double>(line_bytes)));
    const std::uint64_t bytes = std::max<std::uint64_t>(lines, 1) * line_bytes;
    if (bytes >= last) break;
    if (sizes.empty() || sizes.back() != bytes) sizes.push_back(bytes);
  }
  sizes.push_back(last);
  return sizes;
}

}  // namespace tally::memory
