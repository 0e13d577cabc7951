/// The records of what a thread does apart from what is counted: it maps code, gets a name, begins and ends.
/// Profilers need them to name the addresses of samples.
///
/// Each function writes to all events of the thread that ask for such records.
#pragma once
#include "tally/engine/guest/pmu_table.hpp"

namespace tally::engine::guest {

/// The calling thread has got a name; `executes`: because it executes a program.
void record_name(const Thread* t, bool executes);
/// The process has mapped memory, or changed its protection, in this range. `may_be_code`: it may be executed now.
void record_mappings(const Thread* t, u64 start, u64 end, bool may_be_code);
/// The calling thread begins. The caller holds the lock of the table, also of the next one.
void record_begin(const Thread* t);
/// A thread of this process ends.
void record_end(u32 thread);

}  // namespace tally::engine::guest
