/// What a thread hands on where the command carries the models: blocks of its rings (tally/engine/channel/notes.hpp).
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::instrument {

using channel::Handed;

/// Where a thread's ring is mapped.
channel::NoteRing* note_ring(Thread* t, Handed what);
/// Maps the ring of a thread that has its record, empty; `forked`: it is the child of a fork, and its models are what
/// its parent's were at notes_publish(…forks…). The address where its first block begins; 0 without memory.
u64 notes_attach(Thread* t, Handed what, bool forked);
/// Hands the block on that is being written. Where the next one begins: waits for room where there is none, as long as
/// there is somebody who takes blocks; without one notes are lost.
u64 notes_publish(Thread* t, Handed what, const channel::NoteBlock& block);
/// Hands on the block that is being written, with `count` in it, and waits until all is counted. Where the state of the
/// models is then, until something is published again.
u64 notes_take_back(Thread* t, Handed what, u32 count);
/// Waits until everything that was handed on is counted.
void notes_wait(Thread* t, Handed what);

}  // namespace tally::engine::instrument
