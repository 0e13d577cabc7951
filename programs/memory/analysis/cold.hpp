// Entry size of levels whose entries hold several blocks, and forwarding, from single touches of cold memory.
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

/// A block size, and the factor by which a read is slower in the level above than in this one.
struct Amplification {
  double block_bytes = 0;
  double ratio = 0;
};

/// The entry size: the smallest block that costs the same in both levels, within `tolerance`. Empty if none does.
std::optional<double> entry_size(std::span<const Amplification> amplifications, double tolerance = 0.03);

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
