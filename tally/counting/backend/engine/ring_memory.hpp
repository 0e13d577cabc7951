// The command's view of one ring of a thread under the engine (tally/engine/channel/notes.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "tally/counting/backend/engine/run.hpp"

namespace tally::backend::engine {

/// A mapped ring. The command takes the blocks that are published and not yet taken, in order.
class RingMemory {
 public:
  RingMemory() = default;

  /// Returns nothing if there is no memory. Cost: a system call.
  static std::optional<RingMemory> map(const Channel& shared, std::uint32_t ring) {
    auto memory = linux::map_shared(shared.file.get(), channel::note_ring_offset(ring), channel::note_ring_bytes);
    if (!memory) return std::nullopt;
    RingMemory ring_memory;
    ring_memory.memory_ = std::move(*memory);
    return ring_memory;
  }

  channel::NoteRing& head() const { return *reinterpret_cast<channel::NoteRing*>(memory_.data()); }
  std::uint8_t* block(std::uint32_t number) const {
    return memory_.data() + (1 + number % channel::note_blocks) * channel::note_block_bytes;
  }
  const channel::NoteBlock& about(std::uint32_t number) const { return head().block[number % channel::note_blocks]; }

  /// Returns the number of waiting blocks. More than channel::note_blocks: a program has overwritten the ring.
  std::uint32_t waiting() const {
    return __atomic_load_n(&head().published, __ATOMIC_ACQUIRE) - __atomic_load_n(&head().taken, __ATOMIC_RELAXED);
  }

  /// Marks block `number` as taken. Wakes an engine that waits for room when half of the ring is free, and one that
  /// waits for an empty ring when it is empty.
  void take(std::uint32_t number) {
    __atomic_store_n(&head().taken, number + 1, __ATOMIC_SEQ_CST);
    const std::uint32_t waits = __atomic_load_n(&head().waits, __ATOMIC_SEQ_CST);
    if (waits != 0 && waiting() < std::min(waits, channel::note_blocks / 2)) wake();
  }
  /// Marks all blocks up to `published` as taken or skipped. After the thread's last block, another thread may reuse
  /// the record and write at once: discard memory before.
  void leave(std::uint32_t published) {
    __atomic_store_n(&head().taken, published, __ATOMIC_SEQ_CST);
    wake();
  }
  void pass_over() { leave(__atomic_load_n(&head().published, __ATOMIC_ACQUIRE)); }

  /// Releases the memory of the blocks of a ring, which are not needed any more.
  static void discard(const Channel& shared, std::uint32_t ring) {
    linux::discard(shared.file.get(), channel::note_ring_offset(ring) + channel::note_block_bytes,
                   channel::note_ring_bytes - channel::note_block_bytes);
  }

 private:
  void wake() {
    if (__atomic_exchange_n(&head().waits, 0, __ATOMIC_SEQ_CST) != 0) linux::wake_all(head().taken);
  }

  linux::Mapping memory_;
};

}  // namespace tally::backend::engine
