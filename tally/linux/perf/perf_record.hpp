// What the records of counters say that does not depend on who opened them (perf_event_open(2), PERF_RECORD_…).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tally/linux/perf/sample_ring.hpp"

namespace tally::linux {

/// A record of a counter that was opened `ordered`. sample_record() and code_record() read samples and mappings, too.
struct PerfRecord {
  enum class What {
    other,      ///< nothing that is needed
    sample,     ///< a period is full
    mapped,     ///< code of a file, or of none
    begun,      ///< a thread, by `parent_thread` of `parent_process`
    ended,      ///< a thread
    named,      ///< a thread has another name
    executed,   ///< a process has begun another program: what was mapped is gone
    end_count,  ///< `value` of one counter for a thread that has ended
    lost,       ///< `value` records of this ring had no room
    throttled,  ///< the kernel left out samples, lest they take too much time
  };
  What what = What::other;
  std::int32_t process = 0, thread = 0;
  std::int32_t parent_process = 0, parent_thread = 0;  ///< of begun
  std::int64_t time_ns = 0;                            ///< by linux::now()
  std::uint64_t id = 0;                                ///< PerfCounter::id() of the counter that wrote it
  std::int64_t value = 0;                              ///< of end_count and lost
  std::string_view name = {};  ///< of mapped: the file, or what the kernel calls the memory; of others: 15 bytes
  std::uint64_t address = 0;   ///< of sample: the instruction; of mapped: where it begins
  bool in_kernel = false;      ///< of sample: it is one of the kernel's
};

/// Reads a record that is neither a sample nor a mapping; these, and one that is too short for what it is called, are
/// `other`. `trailer_bytes`: what follows every such record (sample_id_all), with process and thread, time and
/// identifier first. Pure.
PerfRecord perf_record(const RingRecord& record, std::size_t trailer_bytes);

}  // namespace tally::linux
