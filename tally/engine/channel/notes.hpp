/// How an engine hands on what nothing that it does depends on: to threads of the command that carry the models, or to
/// the one that takes the rows of windows.
///
/// Each thread under the engine has rings of blocks in the file: of notes for its caches and TLBs, of outcomes of its
/// conditional branches, of rows of its windows, which know nothing of one another. It alone publishes them, and the
/// command takes them in their order; neither waits for the other but where the ring is full. A process may be killed
/// at any instruction: what it published is taken all the same.
///
/// Freestanding: no C library, no other directory.
#pragma once
#include <stdint.h>

#include "tally/engine/channel/models.hpp"

namespace tally::channel {

/// What a ring holds.
enum class Handed : uint32_t { notes, outcomes, windows };
inline constexpr uint32_t rings_of_thread = 3;
/// Rings have numbers, from 3 on: thread 0 is none.
inline constexpr uint32_t ring_number(uint32_t thread, Handed what) {
  return rings_of_thread * thread + static_cast<uint32_t>(what);
}
inline constexpr uint32_t thread_of_ring(uint32_t ring) { return ring / rings_of_thread; }
inline constexpr Handed held_by_ring(uint32_t ring) { return static_cast<Handed>(ring % rings_of_thread); }

/// Models that what such a ring holds is for: bits of Model. Without it they count nothing of that thread.
inline constexpr uint64_t models_of(Handed what) {
  switch (what) {
    case Handed::notes: return model_l1i | model_l1d | model_lower | model_tlbs;
    case Handed::outcomes: return model_branches;
    case Handed::windows: return 0;  // lost rows have a count of their own
  }
  return 0;
}

/// So many that a thread of the command is back before they are full, which takes it some 100 µs where it slept.
inline constexpr uint32_t note_blocks = 128;
/// Notes of a block, of 8 bytes each (sim::Note). Generated code asks once a trace whether a block is full, so that
/// there is room after them for those of any trace.
inline constexpr uint32_t notes_limit = 2048;
/// Outcomes of a block, of 4 bytes each (sim::Outcome).
inline constexpr uint32_t outcomes_limit = 4096;
inline constexpr uint64_t note_block_bytes = uint64_t{2} * notes_limit * sizeof(uint64_t);
static_assert(note_block_bytes == uint64_t{2} * outcomes_limit * sizeof(uint32_t));
/// An engine that has published so many blocks which nobody has taken wakes a thread of the command.
inline constexpr uint32_t note_blocks_to_wake = 16;

/// What a block holds.
struct NoteBlock {
  uint32_t count;    ///< of notes, outcomes or rows
  uint32_t forks;    ///< after it this process (its number) begins with the models as they are then; 0: none
  uint32_t closes;   ///< it is the thread's last one
  uint32_t returns;  ///< after it the thread carries the models itself: their state comes in place of the block
};

/// The head of a ring.
struct NoteRing {
  // The engine's.
  uint32_t published;  ///< blocks so far; the next one is published % note_blocks
  uint32_t begun;      ///< threads that have had this record
  uint32_t process;    ///< whose last level is used: its number
  uint32_t open;       ///< the thread notes
  uint32_t forked;     ///< as this process of a fork the thread began, with the models of its parent; 0: empty ones
  NoteBlock block[note_blocks];
  // Both sides'.
  alignas(64) uint32_t taken;  ///< blocks so far, by the command: a futex
  uint32_t waits;              ///< the engine waits until one fewer are left than this; 0: it does not
  uint32_t queued;             ///< it stands in the list, or is being worked at
  uint32_t next;               ///< in the list of those that have something: a ring's number
};
static_assert(sizeof(NoteRing) <= note_block_bytes);

/// For all rings.
struct NoteBell {
  uint32_t first;     ///< of the list: a ring's number, 0 for none
  uint32_t rings;     ///< a futex: raised to wake one who sleeps
  uint32_t sleepers;  ///< threads of the command
  uint32_t closed;    ///< nobody takes blocks any more
};

/// The head, with the room of a block, and the blocks.
inline constexpr uint64_t note_ring_bytes = (1 + note_blocks) * note_block_bytes;

/// Puts a ring with something to take into the list. Lock-free; who is killed within loses its own notes at most.
inline void enqueue(NoteBell& bell, NoteRing& ring, uint32_t number) {
  if (__atomic_exchange_n(&ring.queued, 1, __ATOMIC_SEQ_CST) != 0) return;
  uint32_t first = __atomic_load_n(&bell.first, __ATOMIC_RELAXED);
  do {
    ring.next = first;
  } while (!__atomic_compare_exchange_n(&bell.first, &first, number, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
}

}  // namespace tally::channel
