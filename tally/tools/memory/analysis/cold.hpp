// Capacity, entry size and latency of levels whose entries hold several blocks, from single touches of cold memory.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tally::memory {

/// A size, and ns per line.
struct SizeTime {
  double size_bytes = 0;
  double ns = 0;
};

/// Capacity of a level from the ramp after its knee: T(R) = T_hi − (T_hi − T_lo)·C/R, a straight line in 1/R, so every
/// point of the ramp contributes and the plateau above is not needed. `ramp` has at least two points after the knee (R
/// ≥ 1.2·knee); `low_ns` is the plateau below. Empty if the ramp does not rise.
struct ColdFit {
  double capacity_bytes = 0;
  double high_ns = 0;
};
std::optional<ColdFit> fit_cold(std::span<const SizeTime> ramp, double low_ns);

/// The size at which a curve is half-way between two latencies, interpolated in log size; empty if there is none.
std::optional<double> half_rise(std::span<const SizeTime> curve, double low_ns, double high_ns);

/// A block size, and the factor by which a read is slower in the level above than in this one.
struct Amplification {
  double block_bytes = 0;
  double ratio = 0;
};

/// The entry size: the smallest block that costs the same in both levels, within `tolerance`. Empty if none does.
std::optional<double> entry_size(std::span<const Amplification> amplifications, double tolerance = 0.03);

/// What each level adds to a read of `block_bytes`. Solves T_j = Σ_{k ≤ j} L_k + Σ_{k > j} (B/E_{k−1})·L_k from the
/// last level, with the plateaus T_0 < T_1 < … inside each level and the entry sizes of all levels but the last.
/// `entries` has one element fewer than `plateaus`.
std::vector<double> split_latency(std::span<const double> plateaus, std::span<const double> entries,
                                  double block_bytes);

/// A time with its interval, if known.
struct TimeInterval {
  double ns = 0;
  std::optional<double> low_ns, high_ns;
};

/// Whether a read of data that was just written is served above the level that a cold read visits.
enum class Forwarded { yes, no, undecided };

/// "served above", "not forwarded" or "undecided".
std::string_view name(Forwarded forwarded);

/// T_raw / (T_w + T_r) at the same size, with its interval. About 1: reading what was just written costs as much as the
/// write and the read separately; below: the data is forwarded; above: the read waits for the write to drain.
struct Forwarding {
  double share = 0;
  std::optional<double> low, high;  ///< from the three intervals; empty if one is missing
  Forwarded forwarded = Forwarded::undecided;
  std::string reason{};  ///< why it is undecided, and what to do; otherwise empty
};

/// Forwarded below this share. Between this and 1, the clock or the loop may explain the difference.
inline constexpr double forwarded_below = 0.9;

/// Decided if the whole interval is on one side of forwarded_below.
Forwarding forwarding(const TimeInterval& raw, const TimeInterval& write, const TimeInterval& read);

}  // namespace tally::memory
