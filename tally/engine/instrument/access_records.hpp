/// Publishes what a thread sends to the command: blocks of its rings (tally/engine/channel/notes.hpp).
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::instrument {

using channel::RingContent;

/// Returns the address at which a ring of the thread is mapped.
channel::NoteRing* note_ring(Thread* t, RingContent what);
/// Maps the empty ring of a thread that has its channel record. `forked`: it is the child of a fork, and its models
/// begin as its parent's were at notes_publish(…forks…). Returns the address of the first block; 0 without memory.
u64 notes_attach(Thread* t, RingContent what, bool forked);
/// Publishes the current block and returns the address of the next one. If the ring is full, waits as long as the
/// command takes blocks; when the command takes no more, blocks are lost.
u64 notes_publish(Thread* t, RingContent what, const channel::NoteBlock& block);
/// Waits until all published blocks are processed.
void notes_wait(Thread* t, RingContent what);

}  // namespace tally::engine::instrument
