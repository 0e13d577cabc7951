/// The process's log of what code its segments are: see engine/channel/code_log.hpp. Everything here does nothing where
/// the command has not asked for one.
#pragma once
#include "tally/engine/thread.hpp"

namespace tally::engine {

/// Whether there is one.
bool logs_code();
/// Its number.
u32 code_log_number();

/// The first log of a process. Called once, when its record is known. False without memory or room in the channel.
bool code_log_init(u32 process);

/// Room for `bytes` behind what the log has, to be filled and then handed to code_log_end(); null without.
u8* code_log_begin(u64 bytes);
/// `record` can be read from now on.
void code_log_end(channel::CodeRecord* record, channel::CodeRecordKind kind);
/// Whether there is room for so many more bytes, with some to spare for what cannot wait.
bool code_log_has_room(u64 bytes);

/// What the first `n` counters of a thread, which are about to be zeroed, say is added to those of its log.
void code_log_collect(Thread* t, const u64* c, u32 n);
/// A block has another thread: what it counts is not its forerunner's.
void code_log_new_thread(Thread* t);
/// A new area, zeroed, for what a record of this kind names; 0 without room.
u32 code_log_area(channel::CodeRecordKind kind, u32 process, u32 thread);
/// A vfork child runs this process's code.
void code_log_shares(u32 process);
/// The number of the mapping of an address (CodeMapping::number), 0 where the log does not have it. Takes no lock. Null
/// until it has one.
extern u32 (*code_log_mapping_of)(u64 pc);
/// The thread's counts change by that much for the instruction at `pc`. Takes no lock.
void code_log_correct(Thread* t, u64 pc, const channel::Totals& delta);

/// All code was thrown away, and what counted it is collected: whether segment numbers are to begin anew; then so does
/// a log, and no thread has counted anything in it. Wants threads_lock.
bool code_log_restarts(u32 segments);

/// Before a fork, in the parent, while no other thread can add to the log: the child's log. False without memory. Then,
/// in the child, it is this process's.
bool code_log_fork(u32 process);
void code_log_forked();

}  // namespace tally::engine
