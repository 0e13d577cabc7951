// What a page fault adds to a count of the program's own instructions: measured by making some.
#pragma once

#include <cstdint>
#include <optional>

#include "tally/linux/perf/perf_event.hpp"

namespace tally::linux {

/// One event, counted while pages are touched for the first time, and again.
struct FaultCost {
  std::int64_t cold = 0;    ///< with a page fault for each
  std::int64_t warm = 0;    ///< the same instructions, without
  std::int64_t faults = 0;  ///< as the kernel counted them
  bool operator==(const FaultCost&) const = default;
};

/// Nothing where the kernel does not let the event, or page faults, be counted, or lends its counter to others
/// meanwhile. Cost: 64 page faults and ten system calls, some 100 µs.
std::optional<FaultCost> count_page_faults(const PerfEvent& event);

}  // namespace tally::linux
