/// Threads of the program: their start, their end, and their final counts.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::guest {

/// Maps the channel and creates the records of this program image and its first thread. Call it once, at the start.
Thread* first_thread(u32 first_fd);

/// Undoes first_thread() because the process continues natively: frees the records of the process and its thread, and
/// all memory but the image.
void forget_first_thread();

/// Creates a thread that is about to be cloned, with the registers of `parent`. `own_process`: it gets its own process
/// record. Returns null without memory.
Thread* new_thread(Thread* parent, bool own_process);

/// Ends the calling thread: its counts become final. Its counters, and then its block, may be reused for another
/// thread.
void finish_thread(Thread* t);
/// The same for the thread of a process that has left this memory by exit, by execve, or because it was killed.
void finish_departed(Thread* t);
void release_counters(Thread* t);
void give_back(Thread* t);

/// Makes the counts of all threads that are outside final, and those of the process if it has no other threads.
void finish_process(Thread* t);
/// Whether another thread has made the counts of this one final.
bool counting_has_ended(const Thread* t);
/// Unmaps the counters of the process's other threads, whose counts are final and which will leave the engine.
void unmap_counters_of_others(const Thread* t);
/// Unmaps the rest of the block of a thread that runs natively.
void unmap_block(Thread* t);
/// Unmaps the channel, after the last use of it in this process.
void unmap_records();
/// The last step of a process whose counts are final: releases its areas.
void release_areas(Thread* t);

/// Makes the counts of the calling thread final, in case its execve succeeds, and those of the process if it has no
/// other threads.
void finish_for_exec(Thread* t);
/// Reopens the record of the process because its execve failed.
void reopen_process(Thread* t);

/// Reserves the record for the child of the next fork. Returns 0 if there is no room.
u32 before_fork(Thread* t);
/// Copies what the child's segments count. The parent does this while no segment can be created: as soon as the child
/// runs, the parent may flush its code, reuse segment numbers, or end and release its area. Returns false without
/// memory.
bool copy_vectors(u32 process);
void fork_failed(u32 process);
/// In the parent: sets the child's pid, which the child itself may write much later.
void fork_done(u32 process, s32 pid);
/// In the child: creates counters and drops the other threads. Returns false without memory.
bool after_fork(Thread* t, u32 process);

/// Maps the jump tables of steps of all threads, which are about to count down. Returns false without memory.
bool map_steps();

/// Adds the values of all counters to the records of their threads, so that segment numbers can be reused. No other
/// thread of the address space is inside. If the process is killed in the middle, no count is lost.
void counts_to_records();

}  // namespace tally::engine::guest
