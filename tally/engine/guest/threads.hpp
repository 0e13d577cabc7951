/// Threads of the program: how they begin and end, and how their counts become final.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::guest {

/// Maps the channel and makes the record of this program image and its first thread. Called once, at the start.
Thread* first_thread(u32 first_fd);

/// The process starts natively after all: no record of it and its thread, no memory but the image's own.
void forget_first_thread();

/// A thread about to be cloned, with the registers of `parent`. `own_process`: it gets a process record of its own.
/// Null when there is no memory for it.
Thread* new_thread(Thread* parent, bool own_process);

/// The calling thread ends: its counts are final. Its counters, and then its block, may serve another thread.
void finish_thread(Thread* t);
/// The same for the thread of a process that has left this memory: by its end, by another program, or killed.
void finish_departed(Thread* t);
void give_counters_back(Thread* t);
void give_back(Thread* t);

/// Counts of all threads that are outside are final, and the process's with them when there are no others.
void finish_process(Thread* t);
/// The last act of a process whose counts are final.
void give_areas_back(Thread* t);

/// The counts of the calling thread are final, if its execve succeeds; the process's too when there are no other
/// threads.
void finish_for_exec(Thread* t);
/// The process goes on after all (its execve failed).
void reopen_process(Thread* t);

/// The record of the child of a fork that is to come; 0 there is no room for one.
u32 before_fork(Thread* t);
/// What the segments of the child's code count. The parent copies it while no segment can be made: once the child runs,
/// the parent may throw its code away, give the numbers to other segments, or end and leave its area to others. False
/// without memory.
bool copy_vectors(u32 process);
void fork_failed(u32 process);
/// In the parent: the child may still be far from writing its number itself.
void fork_done(u32 process, s32 pid);
/// In the child: counters of its own; other threads are gone. False without memory.
bool after_fork(Thread* t, u32 process);

/// What all counters say goes into the records of their threads: segment numbers may be given again. No other thread of
/// the address space is inside. A process that is killed within loses nothing.
void counts_to_records();

}  // namespace tally::engine::guest
