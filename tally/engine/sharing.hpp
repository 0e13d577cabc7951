/// Processes that share this memory (vfork, CLONE_VM without CLONE_THREAD): which of their threads still live.
///
/// SIGKILL ends a whole process at any instruction, and the others natively go on. So whatever the engine has in this
/// memory must be usable for them: locks name their holders, and a dead thread is one that does nothing any more.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine {

/// Whether another process has, or ever had, this memory.
bool memory_is_shared();
/// Called before one is made.
void note_memory_shared();
/// The child of a fork has its memory to itself.
void sharing_after_fork();

/// Called by the first thread of a process that begins a pid namespace, of whose numbers the others are no part. Its
/// parent, who made it, has this process record.
void note_own_namespace(Thread& t, u32 maker);

/// Whether this thread of another process will execute nothing here any more: it was killed, or has another program.
/// Between pid namespaces only the parent's end can be seen: the command's /proc says that there is another parent.
/// False where nobody can tell.
bool has_died(const Thread& t);
/// The same for the thread with this lock_id.
bool has_died(u32 lock_id);
/// Gives a block its lock_id.
void name_for_locks(Thread& t);
/// The thread that engine code runs in before the first one is made.
void begin_without_thread();

/// Something of this memory was left half changed: counts of this process are not the whole truth any more.
void note_dead_holder();

}  // namespace tally::engine
