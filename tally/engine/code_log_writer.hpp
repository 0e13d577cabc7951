/// The log of this process's code: which instructions its segments contain. See engine/channel/code_log_layout.hpp.
/// Every function here does nothing if the command did not request a log.
#pragma once
#include "tally/engine/guest_thread.hpp"

namespace tally::engine {

/// Whether the process has a log.
bool logs_code();
/// The number of the log.
u32 code_log_number();

/// Creates the first log of a process, once its record is known. Returns false without memory or room in the channel.
bool code_log_init(u32 process);

/// Reserves `bytes` at the end of the log; the caller fills them and calls code_log_end(). Null: the log is full.
u8* code_log_begin(u64 bytes);
/// Publishes `record`: readers may use it from now on.
void code_log_end(channel::CodeRecord* record, channel::CodeRecordKind kind);
/// The end of what has been reserved.
const u8* code_log_end_so_far();
/// Whether the log has room for `bytes` more, and a reserve for records that cannot wait.
bool code_log_has_room(u64 bytes);

/// Adds the first `n` counters `c` of a thread, which are about to be zeroed, to the thread's totals in the log.
void code_log_collect(Thread* t, const u64* c, u32 n);
/// A thread block belongs to a new thread: its counts are separate from those of the block's previous thread.
void code_log_new_thread(Thread* t);
/// Returns a new, zeroed counter area for the owner that a record of this kind names, or 0 if the channel is full.
u32 code_log_area(channel::CodeRecordKind kind, u32 process, u32 thread, u32 part = 0);
/// Maps such an area at `address`, or anywhere if it is 0. Returns its address, 0 on failure.
u64 map_code_log_area(u32 area, u64 address);
/// Reserves a table unless it is reserved. False without memory.
template <class T>
bool reserve_table(T*& at, u64 n) {
  if (at == nullptr) at = reinterpret_cast<T*>(try_reserve(page_up(n * sizeof(T)), read_write));
  return at != nullptr;
}
/// Records that a vfork child runs this process's code.
void code_log_shares(u32 process);
/// Returns the number of the mapping of an address (CodeMapping::number), or 0 if it is not in the log. Takes no lock.
/// Null until somebody sets it.
extern u32 (*code_log_mapping_of)(u64 pc);
/// Adds `delta` to the thread's counts for the instruction at `pc`, in this part of the run. Takes no lock.
void code_log_correct(Thread* t, u64 pc, const channel::Totals& delta, u32 part);
/// Sets the part of the run that a thread counts in from now on, after its counters were collected.
void code_log_enter_part(Thread* t, u32 part);

/// Called after all code was discarded and its counters were collected. Returns whether segment numbers are to restart.
/// If so, the log restarts too, and no thread has counted anything in it yet. The caller must hold threads_lock.
bool code_log_restarts(u32 segments);

/// code_log_fork() creates the child's log; the parent calls it before a fork, while no other thread can add to its own
/// log. Returns false without memory. code_log_forked() switches to that log in the child.
bool code_log_fork(u32 process);
void code_log_forked();

}  // namespace tally::engine
