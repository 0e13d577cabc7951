// Computes the counts of regions from the records of threads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tally/core/count/metric.hpp"
#include "tally/core/count/region.hpp"
#include "tally/counting/records/region_record.hpp"
#include "tally/hardware/event/event.hpp"

namespace tally::detail {

/// What turns the numbers of a Counters object into counts.
struct CountedEvents {
  std::vector<event::Event> events;
  std::vector<Count> zeros;           ///< by event: a count of 0 with its source and trust; absent if it has no count
  std::vector<MetricChoice> metrics;  ///< requested ones
  Overheads overhead;
};

/// Why an event is not exact after the engine executed an instruction that does not reveal what it did.
inline constexpr const char* unknown_amounts =
    "the operations or bytes of instructions of this thread are not known: they may have been here";

/// The records of one thread.
struct ThreadRecords {
  struct CountedRecord {
    const Record* record;
    const Histograms* histograms;  ///< of this region alone; null if none were requested for it
  };
  std::int32_t thread = 0;  ///< kernel thread ID
  std::vector<CountedRecord> records;
};

/// Returns the counts of the regions with these names, of entries that have ended. `if_open`: why the counts of a
/// region with open entries are partial; empty if they are not.
std::vector<RegionResult> results_of(const CountedEvents& counted, const std::vector<std::string>& names,
                                     const std::vector<ThreadRecords>& threads, std::string_view if_open = {});

}  // namespace tally::detail
