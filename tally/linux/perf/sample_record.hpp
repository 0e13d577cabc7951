// What the records say that sampled groups of counters write (perf_event_open(2), PERF_RECORD_…).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "tally/linux/perf/sample_ring.hpp"

namespace tally::linux {

/// PerfSampling::fields of the counters whose records sample_record() reads: PERF_SAMPLE_IP, TID, TIME, ID, CPU, READ.
extern const std::uint64_t sample_record_fields;

/// A record of counters that were opened with these fields, `ordered`, and with leaders that are read with their group.
struct SampleRecord {
  enum class What {
    other,      ///< nothing that is needed
    sample,     ///< a period is full: `values` of the group
    end_count,  ///< `value` of one counter for a thread that has ended
    begun,      ///< a thread, by `parent_thread`
    ended,      ///< a thread
    executed,   ///< a thread has begun another program
    lost,       ///< records of this ring had no room
    throttled,  ///< the kernel left out periods, lest they take too much time
  };
  What what = What::other;
  std::int32_t process = 0, thread = 0;
  std::int32_t parent_thread = 0;  ///< of begun
  std::int64_t time_ns = 0;        ///< by linux::now()
  std::uint64_t id = 0;            ///< PerfCounter::id() of the counter that wrote it
  std::int32_t processor = -1;
  std::uint64_t address = 0;       ///< of sample: the instruction
  bool in_kernel = false;          ///< it is one of the kernel's
  std::int64_t value = 0;          ///< of end_count; of lost, how many
  std::string_view name = {};      ///< of executed: the program's file name, 15 bytes of it
  std::span<const std::byte> raw;  ///< of sample: what values() takes

  /// How many counters the group of a sample has.
  std::size_t size() const { return raw.size() / sizeof(std::int64_t); }
  /// What they hold; `to` must have room.
  void values(std::int64_t* to) const { std::memcpy(to, raw.data(), raw.size()); }
};

/// A record that is too short for what it is called is `other`. Pure.
SampleRecord sample_record(const RingRecord& record);

}  // namespace tally::linux
