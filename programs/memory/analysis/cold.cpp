#include "programs/memory/analysis/cold.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "tally/core/base/text.hpp"

namespace tally::memory {

std::optional<double> entry_size(std::span<const Amplification> amplifications, double tolerance) {
  for (const Amplification& one : amplifications) {
    if (one.ratio <= 1 + tolerance) return one.block_bytes;
  }
  return std::nullopt;
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
