/// Which records of the channel new processes and threads use: unused ones, then those of others whose counts are
/// final.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::guest {

/// Returns a process record, or 0 if there is no room. `forked_from`: that of its parent; 0: it is the first process.
u32 new_process_record(u32 forked_from);
/// Returns a thread record that no thread has used, or 0 if there is no room.
u32 new_thread_record(u32 process);
/// Whether the next thread may continue the record of the thread that had this block before.
bool takes_over(const Thread* t, u32 process);
/// Returns the record of the first thread of the process that had this process record before; 0 if there is none.
u32 left_thread_record(u32 process);

}  // namespace tally::engine::guest
