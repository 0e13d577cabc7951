#include "tally/engine/instrument/access_records.hpp"

#include "tally/engine/inherited.hpp"
#include "tally/engine/instrument/model_probes.hpp"

namespace tally::engine::instrument {
namespace {

using channel::NoteRing;
using channel::RingWakeup;

RingWakeup& wakeup() { return records().header().wakeup; }

u64 block_of(NoteRing& ring, u32 number) {
  return reinterpret_cast<u64>(&ring) + (1 + number % channel::note_blocks) * channel::note_block_bytes;
}

/// Prefetches the lines of a block together. The command read them last, so one after the other, as they are written,
/// they would cost about 30 ns each.
u64 prefetch_block(u64 block) {
  for (u64 at = 0; at < notes_offloaded; at += 64) asm volatile("prefetchw (%0)" : : "r"(block + at));
  return block;
}

u32 waiting_blocks(const NoteRing& ring) { return ring.published - __atomic_load_n(&ring.taken, __ATOMIC_ACQUIRE); }

void wake() {
  __atomic_add_fetch(&wakeup().rings, 1, __ATOMIC_SEQ_CST);
  kernel(SYS_futex, reinterpret_cast<u64>(&wakeup().rings), FUTEX_WAKE, 1);
}

bool is_command_asleep() { return __atomic_load_n(&wakeup().sleepers, __ATOMIC_SEQ_CST) != 0; }

/// Whether the command has closed the rings: it takes no more blocks.
bool is_closed_by_command() { return __atomic_load_n(&wakeup().closed, __ATOMIC_SEQ_CST) != 0; }

/// Whether nobody takes blocks any more: the command has closed the rings, or has ended.
bool is_closed() {
  if (is_closed_by_command()) return true;
  struct {
    s32 fd;
    s16 events, happened;
  } socket = {static_cast<s32>(inherited(channel::inherited_socket)), 0, 0};
  constexpr s16 hung_up = 0x10;
  if (kernel(SYS_poll, reinterpret_cast<u64>(&socket), 1, 0) <= 0 || (socket.happened & hung_up) == 0) return false;
  __atomic_store_n(&wakeup().closed, 1, __ATOMIC_RELEASE);
  return true;
}

/// Waits until at most `most` blocks are left. False if nobody takes them.
bool wait_for(NoteRing& ring, u32 most) {
  const u64 second[2] = {1, 0};
  while (waiting_blocks(ring) > most) {
    if (is_closed_by_command()) return false;
    __atomic_store_n(&ring.waits, 1 + most, __ATOMIC_SEQ_CST);
    const u32 taken = __atomic_load_n(&ring.taken, __ATOMIC_SEQ_CST);
    if (is_command_asleep()) wake();
    if (ring.published - taken <= most) break;
    const s64 r =
        kernel(SYS_futex, reinterpret_cast<u64>(&ring.taken), FUTEX_WAIT, taken, reinterpret_cast<u64>(second));
    if (r == -ETIMEDOUT && is_closed()) return false;
  }
  return true;
}

/// Marks the model counts that lack the data of this ring.
void mark_lost(Thread* t, RingContent what) {
  const u64 models = channel::models_of(what);
  if (models != 0) __atomic_or_fetch(&model_counts(t)->without, models, __ATOMIC_RELAXED);
}

}  // namespace

u64 notes_attach(Thread* t, RingContent what, bool forked) {
  NoteRing& ring = *note_ring(t, what);
  const u64 at = reinterpret_cast<u64>(&ring);
  if (!map_channel(at, channel::note_ring_bytes, channel::note_ring_offset(channel::ring_number(t->index, what))))
    return 0;
  // The previous thread with this record may have left some blocks.
  if (!wait_for(ring, 0)) ring.taken = ring.published;
  ring.process = own_process_number();
  ring.forked = forked ? t->process : 0;
  ring.open = 1;
  __atomic_store_n(&ring.begun, ring.begun + 1, __ATOMIC_RELEASE);
  return block_of(ring, ring.published);
}

u64 notes_publish(Thread* t, RingContent what, const channel::NoteBlock& block) {
  NoteRing& ring = *note_ring(t, what);
  if (ring.open == 0 || (block.count == 0 && block.forks == 0 && block.closes == 0))
    return block_of(ring, ring.published);
  if (block.closes != 0) ring.open = 0;
  const bool holds_something = block.count != 0 || block.forks != 0;
  if (is_closed_by_command()) {
    if (holds_something) mark_lost(t, what);
    return block_of(ring, ring.published);
  }
  ring.block[ring.published % channel::note_blocks] = block;
  __atomic_store_n(&ring.published, ring.published + 1, __ATOMIC_SEQ_CST);
  channel::enqueue(wakeup(), ring, channel::ring_number(t->index, what));
  // The command may have read the list for the last time before the block was in it.
  if (holds_something && is_closed_by_command()) mark_lost(t, what);
  if ((waiting_blocks(ring) >= channel::note_blocks_to_wake || block.closes != 0) && is_command_asleep()) wake();
  // The block after those that wait is the current one.
  (void)wait_for(ring, channel::note_blocks - 1);
  return prefetch_block(block_of(ring, ring.published));
}

void notes_wait(Thread* t, RingContent what) { (void)wait_for(*note_ring(t, what), 0); }

}  // namespace tally::engine::instrument
