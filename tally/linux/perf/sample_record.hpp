// What the records say that sampled groups of counters write (perf_event_open(2), PERF_RECORD_…).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "tally/linux/perf/perf_record.hpp"

namespace tally::linux {

/// PerfSampling::fields of the counters whose records sample_record() reads: PERF_SAMPLE_IP, TID, TIME, ID, CPU, READ.
extern const std::uint64_t sample_record_fields;

/// A record of counters that were opened with these fields, `ordered`, and with leaders that are read with their group.
struct SampleRecord : PerfRecord {
  std::int32_t processor = -1;
  std::span<const std::byte> raw = {};  ///< of sample: what values() takes

  /// How many counters the group of a sample has.
  std::size_t size() const { return raw.size() / sizeof(std::int64_t); }
  /// What they hold; `to` must have room.
  void values(std::int64_t* to) const { std::memcpy(to, raw.data(), raw.size()); }
};

/// perf_record(), with samples: the `values` of the group when a period was full. Pure.
SampleRecord sample_record(const RingRecord& record);

}  // namespace tally::linux
