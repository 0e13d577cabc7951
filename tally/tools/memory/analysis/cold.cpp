#include "tally/tools/memory/analysis/cold.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/core/stats/statistics.hpp"

namespace tally::memory {

std::optional<ColdFit> fit_cold(std::span<const SizeTime> ramp, double low_ns) {
  if (ramp.size() < 2) return std::nullopt;
  std::vector<double> inverse;
  std::vector<double> ns;
  for (const SizeTime& one : ramp) {
    inverse.push_back(1 / one.size_bytes);
    ns.push_back(one.ns);
  }
  const Line line = fit_line(inverse, ns);
  if (line.slope >= 0 || line.intercept <= low_ns) return std::nullopt;
  return ColdFit{-line.slope / (line.intercept - low_ns), line.intercept};
}

std::optional<double> half_rise(std::span<const SizeTime> curve, double low_ns, double high_ns) {
  const double middle = (low_ns + high_ns) / 2;
  for (std::size_t i = 1; i < curve.size(); ++i) {
    const SizeTime& from = curve[i - 1];
    const SizeTime& to = curve[i];
    if (from.ns >= middle || to.ns < middle) continue;
    return from.size_bytes * std::pow(to.size_bytes / from.size_bytes, (middle - from.ns) / (to.ns - from.ns));
  }
  return std::nullopt;
}

std::optional<double> entry_size(std::span<const Amplification> amplifications, double tolerance) {
  for (const Amplification& one : amplifications) {
    if (one.ratio <= 1 + tolerance) return one.block_bytes;
  }
  return std::nullopt;
}

std::vector<double> split_latency(std::span<const double> plateaus, std::span<const double> entries,
                                  double block_bytes) {
  const std::size_t levels = plateaus.size();
  std::vector<double> added(levels);
  for (std::size_t j = levels; j-- > 1;) {
    added[j] = (plateaus[j] - plateaus[j - 1]) / (1 - block_bytes / entries[j - 1]);
  }
  added[0] = plateaus[0];
  for (std::size_t k = 1; k < levels; ++k) added[0] -= block_bytes / entries[k - 1] * added[k];
  return added;
}

std::string_view name(Forwarded forwarded) {
  switch (forwarded) {
    case Forwarded::yes: return "served above";
    case Forwarded::no: return "not forwarded";
    case Forwarded::undecided: break;
  }
  return "undecided";
}

Forwarding forwarding(const TimeInterval& raw, const TimeInterval& write, const TimeInterval& read) {
  Forwarding made{raw.ns / (write.ns + read.ns), {}, {}};
  std::vector<std::string> unknown;
  for (const auto& [name, time] : {std::pair{"raw", &raw}, {"write", &write}, {"read", &read}}) {
    if (!time->low_ns || !time->high_ns) unknown.emplace_back(name);
  }
  if (!unknown.empty()) {
    made.reason = fmt::format("no interval of {}: flagged, or too few quiet batches; use --mappings, or a quieter time",
                              join(unknown, ", "));
    return made;
  }
  if (*write.low_ns + *read.low_ns <= 0) return made;
  made.low = *raw.low_ns / (*write.high_ns + *read.high_ns);
  made.high = *raw.high_ns / (*write.low_ns + *read.low_ns);
  if (*made.high < forwarded_below) made.forwarded = Forwarded::yes;
  if (*made.low >= forwarded_below) made.forwarded = Forwarded::no;
  if (made.forwarded == Forwarded::undecided) {
    made.reason = fmt::format("{} is within the interval; more --mappings and --batches narrow it", forwarded_below);
  }
  return made;
}

}  // namespace tally::memory
