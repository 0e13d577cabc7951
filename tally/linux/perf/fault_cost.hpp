// Measures what a page fault adds to a count of the program's own instructions.
#pragma once

#include <cstdint>
#include <optional>

#include "tally/linux/perf/perf_event.hpp"

namespace tally::linux {

/// Counts of one event, while pages are touched for the first time, and again.
struct FaultCost {
  std::int64_t cold = 0;    ///< with a page fault for each page
  std::int64_t warm = 0;    ///< the same instructions without page faults
  std::int64_t faults = 0;  ///< counted by the kernel
  bool operator==(const FaultCost&) const = default;
};

/// Nothing if the kernel cannot count the event or page faults, or multiplexes the counter meanwhile. Cost: 64 page
/// faults and ten system calls, some 100 µs.
std::optional<FaultCost> count_page_faults(const PerfEvent& event);

}  // namespace tally::linux
