/// The notes of a thread, where the command carries the caches: blocks of its ring (tally/channel/notes.hpp).
#pragma once
#include "tally/engine/thread.hpp"

namespace tally::engine {

/// Where a thread's ring is mapped.
channel::NoteRing* note_ring(Thread* t);
/// Maps the ring of a thread that has its record, empty; `forked`: it is the child of a fork, and its levels are what
/// its parent's were at notes_publish(…forks…). Where its first notes go; null without memory.
u64* notes_attach(Thread* t, bool forked);
/// Hands the block on that is being written. Where the next notes go: waits for room where there is none, as long as
/// there is somebody who takes blocks; without one notes are lost.
u64* notes_publish(Thread* t, const channel::NoteBlock& block);
/// Waits until everything that was handed on is counted.
void notes_wait(Thread* t);

}  // namespace tally::engine
