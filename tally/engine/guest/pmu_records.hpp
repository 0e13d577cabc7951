/// The records of events (perf_event_open(2), "MMAP layout"): samples, and the values that identify other records.
///
/// The caller holds the lock of the table.
#pragma once
#include <linux/perf_event.h>

#include "tally/engine/guest/pmu_table.hpp"

namespace tally::engine::guest {

/// Bits of PmuSampling::flags.
enum class Flag : u8 {
  mmap = 8,
  comm,
  frequency,
  task = 13,
  watermark,
  precise,
  more_precise,
  mmap_data,
  sample_id_all,
  exclude_callers_of_user = 22,
  mmap2,
  comm_exec,
  use_clock,
  write_backward = 27,
  sigtrap = 37
};
inline bool has_flag(const PmuOpenEvent& e, Flag flag) { return (e.sampling.flags >> static_cast<u8>(flag) & 1) != 0; }

/// The last values of a record that is no sample.
struct SampleId {
  u64 value[6];
};
struct LostRecord {
  perf_event_header header;
  u64 id, lost;
  SampleId sample_id;
};
struct ThrottleRecord {
  perf_event_header header;
  u64 time, id, stream;
  SampleId sample_id;
};
/// Adds these values to a record of the calling thread, if the event asks for them.
void add_sample_id(const PmuOpenEvent& e, perf_event_header& record);

/// What samples can contain.
inline constexpr u64 known_content =
    PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN |
    PERF_SAMPLE_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_RAW |
    PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_INTR |
    PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_WEIGHT_TYPE | PERF_SAMPLE_TRANSACTION |
    PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_DATA_PAGE_SIZE;

/// Returns the sample of an event, of the calling thread between two instructions, of which `last` was the first; null
/// if a count in it is not known. It is valid until the lock is released.
const perf_event_header* make_sample(const Thread* t, u32 event, u64 last, u64 period);

/// Nanoseconds of the clock that the event's records have.
u64 time_of(const PmuOpenEvent& e);

}  // namespace tally::engine::guest
