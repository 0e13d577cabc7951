// Decodes the records of sampled groups of counters (perf_event_open(2), PERF_RECORD_…).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "tally/linux/perf/perf_record.hpp"

namespace tally::linux {

/// PerfSampling::fields of counters whose records sample_record() decodes: PERF_SAMPLE_IP, TID, TIME, ID, CPU, READ.
extern const std::uint64_t sample_record_fields;

/// A record of counters that were opened with these fields, `ordered`, and with leaders that read their group.
struct SampleRecord : PerfRecord {
  std::int32_t processor = -1;
  std::span<const std::byte> raw = {};  ///< of sample: source of values()

  /// Returns the number of counters in the group of a sample.
  std::size_t size() const { return raw.size() / sizeof(std::int64_t); }
  /// Copies their values; `to` must have room.
  void values(std::int64_t* to) const { std::memcpy(to, raw.data(), raw.size()); }
};

/// Like perf_record(), and also decodes samples, the values of the group when a period was complete, and of mappings
/// the process. Pure.
SampleRecord sample_record(const RingRecord& record);

}  // namespace tally::linux
