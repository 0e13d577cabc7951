/// Finds which threads are alive in processes that share this memory (vfork, CLONE_VM without CLONE_THREAD).
///
/// SIGKILL ends a whole process at any instruction, and natively the others continue. So the engine's data here must
/// stay usable for them: locks name their holders, and a thread is dead when it will execute nothing here any more.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine {

/// Whether another process shares this memory or ever did.
bool memory_is_shared();
/// Called before such a process is created.
void note_memory_shared();
/// Called in the child of a fork, which shares its memory with nobody.
void sharing_after_fork();

/// Called by the first thread of a process that starts a pid namespace, in which outside process numbers have no
/// meaning. `maker` is the process record of its parent.
void note_own_namespace(Thread& t, u32 maker);

/// Whether thread `t` of another process will execute nothing here any more, because it was killed or executes another
/// program. Between pid namespaces only the end of the parent is visible: the command's /proc then shows another
/// parent. Returns false if it cannot be decided.
bool has_died(const Thread& t);
/// The same for the thread with this lock_id.
bool has_died(u32 lock_id);
/// Sets the lock_id of a thread block.
void name_for_locks(Thread& t);
/// Sets up the thread in which engine code runs before the first thread is created.
void begin_without_thread();

/// A dead thread left shared data half changed: the counts of this process are partial.
void note_dead_holder();

}  // namespace tally::engine
