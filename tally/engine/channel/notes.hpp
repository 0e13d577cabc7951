/// Rings in the channel by which a thread under the engine sends data to the command: access records and branch
/// outcomes for the workers that run models, and rows of windows.
///
/// Each thread has one ring of blocks for each kind; the rings are independent of one another. Only the thread
/// publishes blocks, and the command takes them in order; the thread waits only if its ring is full. A process may be
/// killed at any instruction: the command still takes what it published.
///
/// Freestanding: no C library, no other directory.
#pragma once
#include <stdint.h>

#include "tally/engine/channel/model_counts.hpp"

namespace tally::channel {

/// The content of a ring.
enum class RingContent : uint32_t { notes, outcomes, windows };
inline constexpr uint32_t rings_of_thread = 3;
/// The number of a ring, from 3 on: thread index 0 is not used.
inline constexpr uint32_t ring_number(uint32_t thread, RingContent what) {
  return rings_of_thread * thread + static_cast<uint32_t>(what);
}
inline constexpr uint32_t thread_of_ring(uint32_t ring) { return ring / rings_of_thread; }
inline constexpr RingContent held_by_ring(uint32_t ring) { return static_cast<RingContent>(ring % rings_of_thread); }

/// Bits of Model for the models that need this content. If it is lost, they miss events of that thread.
inline constexpr uint64_t models_of(RingContent what) {
  switch (what) {
    case RingContent::notes: return model_l1i | model_l1d | model_lower | model_tlbs;
    case RingContent::outcomes: return model_branches;
    case RingContent::windows: return 0;  // lost rows are counted separately
  }
  return 0;
}

/// Enough blocks for a worker to return before they are full; a sleeping worker takes about 100 µs.
inline constexpr uint32_t note_blocks = 128;
/// Access records per block, 8 bytes each (models::Note). Generated code checks once per trace whether a block is full,
/// so a block has room after them for the records of any trace.
inline constexpr uint32_t notes_limit = 2048;
/// Words of outcomes per block, 4 bytes each (models::Outcome).
inline constexpr uint32_t outcomes_limit = 4096;
inline constexpr uint64_t note_block_bytes = uint64_t{2} * notes_limit * sizeof(uint64_t);
static_assert(note_block_bytes == uint64_t{2} * outcomes_limit * sizeof(uint32_t));
/// An engine wakes a thread of the command when this many published blocks wait.
inline constexpr uint32_t note_blocks_to_wake = 16;

/// Describes a block.
struct NoteBlock {
  uint32_t count;   ///< access records, words of outcomes, or rows
  uint32_t forks;   ///< number of a process that begins after this block, with a copy of the models; 0: none
  uint32_t closes;  ///< this is the thread's last block
};

/// The head of a ring.
struct NoteRing {
  // Written by the engine.
  uint32_t published;  ///< blocks so far; the next one is block[published % note_blocks]
  uint32_t begun;      ///< threads that have used this record
  uint32_t process;    ///< number of the process whose last-level cache is used
  uint32_t open;       ///< the thread is recording
  uint32_t forked;     ///< number of the forked process that began with its parent's models; 0: empty models
  NoteBlock block[note_blocks];
  // Written by both sides.
  alignas(64) uint32_t taken;  ///< blocks that the command has taken; a futex
  uint32_t waits;              ///< the engine waits until fewer blocks than this are left; 0: it does not wait
  uint32_t queued;             ///< the ring is in the list, or a thread of the command is working on it
  uint32_t next;               ///< number of the next ring in the list of rings with published blocks
};
static_assert(sizeof(NoteRing) <= note_block_bytes);

/// Wakes the command; shared by all rings.
struct RingWakeup {
  uint32_t first;     ///< number of the first ring in the list; 0: none
  uint32_t rings;     ///< a futex, incremented to wake a sleeping thread
  uint32_t sleepers;  ///< sleeping threads of the command
  uint32_t closed;    ///< the command takes no more blocks
};

/// A ring: the head, which has the room of a block, and the blocks.
inline constexpr uint64_t note_ring_bytes = (1 + note_blocks) * note_block_bytes;

/// Adds a ring with published blocks to the list. Lock-free; a process killed in it loses at most its own records.
inline void enqueue(RingWakeup& wakeup, NoteRing& ring, uint32_t number) {
  if (__atomic_exchange_n(&ring.queued, 1, __ATOMIC_SEQ_CST) != 0) return;
  uint32_t first = __atomic_load_n(&wakeup.first, __ATOMIC_RELAXED);
  do {
    ring.next = first;
  } while (!__atomic_compare_exchange_n(&wakeup.first, &first, number, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
}

}  // namespace tally::channel
