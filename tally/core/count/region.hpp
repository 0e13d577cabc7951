// What was counted in regions of a program's own code.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tally/core/count/count.hpp"
#include "tally/core/count/event_name.hpp"

namespace tally {

/// So many entries counted at least so much, and at most so much.
struct RegionBucket {
  std::int64_t least = 0, most = 0;
  std::uint64_t entries = 0;
  bool operator==(const RegionBucket&) const = default;
};

/// What one event did in a region.
struct RegionEvent {
  EventName event;
  Count total;                              ///< of all entries, what reading costs taken off
  std::optional<std::int64_t> least, most;  ///< of one entry, likewise; nothing without an entry
  std::int64_t overhead = 0;                ///< what was taken off for each entry
  std::int64_t uncertainty = 0;             ///< so far measurements of that overhead lay apart
  double overhead_percent = 0;              ///< the overhead's part of what was read
  bool too_small = false;               ///< the overhead is a tenth of it or more, and no constant: not to be trusted
  std::vector<RegionBucket> histogram;  ///< of its entries, where it was asked for; without those that are empty
  bool operator==(const RegionEvent&) const = default;
};

/// What the counts of a region say together.
struct RegionMetric {
  std::string name;     ///< "IPC", "branches/instructions"
  std::string formula;  ///< in full names: "instructions:u / cycles:u"
  std::string unit;     ///< "share" (of 1), "per 1,000 instructions"; empty for a plain number
  EventName beside;     ///< the event in whose row it is; or empty
  EventName per;        ///< the event that `beside` is compared with; empty for other metrics
  bool asked = false;   ///< by the program; else it is there because its events are
  Ratio ratio;          ///< of the totals
  bool operator==(const RegionMetric&) const = default;
};

/// A region, of one thread or of all of them.
struct RegionCounts {
  std::uint64_t entries = 0;    ///< that were counted
  std::uint64_t recursive = 0;  ///< entries while the thread was in it: part of the outermost one
  std::uint64_t dropped = 0;    ///< entries of which the two ends could not be read in the same way, or not at all
  std::uint64_t open = 0;       ///< entries that have begun and not ended
  std::vector<RegionEvent> events;
  std::vector<RegionMetric> metrics;
  bool operator==(const RegionCounts&) const = default;
};

/// What one thread did in a region.
struct RegionThread {
  std::int32_t thread = 0;  ///< its number, as the kernel has it
  RegionCounts counts;
  bool operator==(const RegionThread&) const = default;
};

/// A region of a program.
struct RegionResult {
  std::string name;
  RegionCounts all;                   ///< threads together
  std::vector<RegionThread> threads;  ///< in the order of their first entry
  bool operator==(const RegionResult&) const = default;
};

}  // namespace tally
