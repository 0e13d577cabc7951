// The counts of regions of a program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tally/core/count/count.hpp"
#include "tally/core/count/event_name.hpp"

namespace tally {

/// Maximum number of events that regions count together: more than processors count at once for a program.
inline constexpr std::size_t most_events = 16;

/// A histogram bucket: N entries counted `least` to `most`.
struct RegionBucket {
  std::int64_t least = 0, most = 0;
  std::uint64_t entries = 0;
  bool operator==(const RegionBucket&) const = default;
};

/// The counts of one event in a region.
struct RegionEvent {
  EventName event;
  Count total;                              ///< over all entries, minus the read overhead
  std::optional<std::int64_t> least, most;  ///< of one entry, minus the overhead; nothing without an entry
  std::int64_t overhead = 0;                ///< subtracted for each entry
  std::int64_t uncertainty = 0;             ///< the range of the overhead's measurements
  double overhead_percent = 0;              ///< the overhead as a percentage of the raw count
  bool too_small = false;                   ///< not reliable: the overhead is a tenth or more, and varies
  std::vector<RegionBucket> histogram;      ///< of its entries, if requested; non-empty buckets only
  bool operator==(const RegionEvent&) const = default;
};

/// A metric of a region's counts.
struct RegionMetric {
  std::string name;     ///< "IPC", "branches/instructions"
  std::string formula;  ///< with full names: "instructions:u / cycles:u"
  std::string unit;     ///< "share" (of 1), "per 1,000 instructions"; empty for a plain number
  EventName row_event;  ///< the event in whose row it is shown; or empty
  EventName per;        ///< the event that the row's event is compared with; empty for other metrics
  bool asked = false;   ///< requested by the program; otherwise shown because its events are counted
  Ratio ratio;          ///< computed from the totals
  bool operator==(const RegionMetric&) const = default;
};

/// A region's counts, of one thread or all threads.
struct RegionCounts {
  std::uint64_t entries = 0;    ///< entries that were counted
  std::uint64_t recursive = 0;  ///< entries while the thread was inside: part of the outermost entry
  std::uint64_t dropped = 0;    ///< entries whose two ends could not be read, or not in the same way
  std::uint64_t open = 0;       ///< entries that did not end
  std::vector<RegionEvent> events;
  std::vector<RegionMetric> metrics;
  bool operator==(const RegionCounts&) const = default;
};

/// A region's counts in one thread.
struct RegionThread {
  std::int32_t thread = 0;  ///< kernel thread ID
  RegionCounts counts;
  bool operator==(const RegionThread&) const = default;
};

/// A region of a program, with its counts.
struct RegionResult {
  std::string name;
  RegionCounts all;                   ///< sum over all threads
  std::vector<RegionThread> threads;  ///< in order of first entry
  bool operator==(const RegionResult&) const = default;
};

}  // namespace tally
