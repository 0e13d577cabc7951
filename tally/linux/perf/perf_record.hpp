// Decodes the records of counters that are the same for every use (perf_event_open(2), PERF_RECORD_…).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tally/linux/perf/sample_ring.hpp"

namespace tally::linux {

/// A record of a counter that was opened `ordered`. sample_record() and code_record() also decode samples and mappings.
struct PerfRecord {
  enum class Kind {
    other,      ///< not needed
    sample,     ///< a period is complete
    mapped,     ///< code, of a file or not
    begun,      ///< a thread, created by `parent_thread` of `parent_process`
    ended,      ///< a thread
    named,      ///< a thread changed its name
    executed,   ///< a process executed another program: its mappings are removed
    end_count,  ///< `value` of one counter for a thread that has ended
    lost,       ///< the ring had no room for `value` records
    throttled,  ///< the kernel skipped samples, to limit their cost
  };
  Kind what = Kind::other;
  std::int32_t process = 0, thread = 0;
  std::int32_t parent_process = 0, parent_thread = 0;  ///< of begun
  std::int64_t time_ns = 0;                            ///< by linux::now()
  std::uint64_t id = 0;                                ///< PerfCounter::id() of the counter that wrote it
  std::int64_t value = 0;                              ///< of end_count and lost
  std::string_view name = {};  ///< mapped: the file or the kernel's name for the memory; others: 15 bytes
  std::uint64_t address = 0;   ///< sample: the instruction; mapped: start
  bool in_kernel = false;      ///< sample: in kernel mode
};

/// Decodes a record that is neither a sample nor a mapping; those, and records that are too short for their type, are
/// `other`. `trailer_bytes`: size of what follows every such record (sample_id_all), which begins with process and
/// thread, time and identifier. Pure.
PerfRecord perf_record(const RingRecord& record, std::size_t trailer_bytes);

}  // namespace tally::linux
