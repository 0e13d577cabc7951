// The command's view of one ring of a thread under the engine (tally/engine/channel/notes.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "tally/counting/backend/engine/run.hpp"

namespace tally::backend::engine {

/// A ring, mapped. The command takes blocks in their order: those that are published and not taken.
class RingMemory {
 public:
  RingMemory() = default;

  /// Nothing without memory. Cost: a system call.
  static std::optional<RingMemory> map(const Channel& shared, std::uint32_t ring) {
    auto memory = linux::map_shared(shared.file.get(), channel::note_ring_offset(ring), channel::note_ring_bytes);
    if (!memory) return std::nullopt;
    RingMemory made;
    made.memory_ = std::move(*memory);
    return made;
  }

  channel::NoteRing& head() const { return *reinterpret_cast<channel::NoteRing*>(memory_.data()); }
  std::uint8_t* block(std::uint32_t number) const {
    return memory_.data() + (1 + number % channel::note_blocks) * channel::note_block_bytes;
  }
  const channel::NoteBlock& about(std::uint32_t number) const { return head().block[number % channel::note_blocks]; }

  /// Blocks that wait. More than channel::note_blocks: a program has written over the ring.
  std::uint32_t waiting() const {
    return __atomic_load_n(&head().published, __ATOMIC_ACQUIRE) - __atomic_load_n(&head().taken, __ATOMIC_RELAXED);
  }

  /// Block `number` is taken. An engine that waits for room is told when half of the ring is free, one that waits for
  /// all of it at its end.
  void take(std::uint32_t number) {
    __atomic_store_n(&head().taken, number + 1, __ATOMIC_SEQ_CST);
    const std::uint32_t waits = __atomic_load_n(&head().waits, __ATOMIC_SEQ_CST);
    if (waits != 0 && waiting() < std::min(waits, channel::note_blocks / 2)) tell();
  }
  /// All up to block `published` is taken, or passed over. Where it was the thread's last: from here on another thread
  /// may have the record, and write; what is to be discarded was so before.
  void leave(std::uint32_t published) {
    __atomic_store_n(&head().taken, published, __ATOMIC_SEQ_CST);
    tell();
  }
  void pass_over() { leave(__atomic_load_n(&head().published, __ATOMIC_ACQUIRE)); }

  /// The memory of the blocks of a ring is given back: nothing of them is needed any more.
  static void discard(const Channel& shared, std::uint32_t ring) {
    linux::discard(shared.file.get(), channel::note_ring_offset(ring) + channel::note_block_bytes,
                   channel::note_ring_bytes - channel::note_block_bytes);
  }

 private:
  void tell() {
    if (__atomic_exchange_n(&head().waits, 0, __ATOMIC_SEQ_CST) != 0) linux::wake_all(head().taken);
  }

  linux::Mapping memory_;
};

}  // namespace tally::backend::engine
