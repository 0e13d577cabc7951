// What single touches of cold memory say: capacity, entries and latency of levels whose entries hold several blocks.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace tally::memory {

/// One size, and ns per line.
struct SizeTime {
  double size_bytes = 0;
  double ns = 0;
};

/// Capacity of a level from the ramp after its knee: T(R) = T_hi − (T_hi − T_lo)·C/R, a straight line in 1/R, so that
/// every point of the ramp is used and no plateau above need be seen. `ramp` has at least two points after the knee
/// (R ≥ 1.2·knee); `low_ns` is the plateau below. Nothing where the ramp does not rise.
struct ColdFit {
  double capacity_bytes = 0;
  double high_ns = 0;
};
std::optional<ColdFit> fit_cold(std::span<const SizeTime> ramp, double low_ns);

/// The size at which a curve is half-way between two latencies, interpolated in log size; nothing where it never is.
std::optional<double> half_rise(std::span<const SizeTime> curve, double low_ns, double high_ns);

/// A block size, and how much slower a read is in the level above than in this one.
struct Amplification {
  double block_bytes = 0;
  double ratio = 0;
};

/// The entry: the smallest block that costs the same in both, within `tolerance`. Nothing where none does.
std::optional<double> entry_size(std::span<const Amplification> amplifications, double tolerance = 0.03);

/// What each level adds to a read of `block_bytes`, from the plateaus T_0 < T_1 < … inside each level, and the entries
/// of all levels but the last: T_j = Σ_{k ≤ j} L_k + Σ_{k > j} (B/E_{k−1})·L_k, solved from the last level.
/// `entries` has one fewer than `plateaus`.
std::vector<double> split_latency(std::span<const double> plateaus, std::span<const double> entries,
                                  double block_bytes);

/// A time with its interval, where that is known.
struct TimeInterval {
  double ns = 0;
  std::optional<double> low_ns, high_ns;
};

/// Whether a read finds what was written just before it above the level that a cold read visits.
enum class Forwarded { yes, no, undecided };

/// "served above", "not forwarded", "undecided".
std::string_view name(Forwarded forwarded);

/// T_raw / (T_w + T_r) at the same size, and between what it lies. Around 1: a read of what was just written costs what
/// both cost alone; below: it is forwarded; above: it waits for the write to drain.
struct Forwarding {
  double share = 0;
  std::optional<double> low, high;  ///< as far as the three intervals allow; nothing where one is missing
  Forwarded forwarded = Forwarded::undecided;
};

/// Forwarded below this share: what lies nearer to 1 may be the clock's or the loop's.
inline constexpr double forwarded_below = 0.9;

/// Decided where the whole interval lies on one side.
Forwarding forwarding(const TimeInterval& raw, const TimeInterval& write, const TimeInterval& read);

}  // namespace tally::memory
