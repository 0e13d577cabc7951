// The reorder buffer and the schedulers of a core: when they have room for the next instruction.
#pragma once

#include <cstdint>

#include "tally/engine/models/core/core_model.hpp"

namespace tally::models {

// std::max() would add floating point, which the engine's build does not support.
constexpr std::int32_t larger(std::int32_t a, std::int32_t b) { return a > b ? a : b; }

/// Operations wait for their sources in one of these: those of general registers, and those of vectors by their ports.
constexpr unsigned schedulers = 3;

class ReorderBuffer {
 public:
  /// Returns when the next instruction can start at the earliest: it is renamed after those before it, when there is
  /// room for it, and enters its scheduler when that has room. Those of vectors wait for this in a queue of their own.
  std::int32_t earliest(const CoreTable& core, unsigned scheduler) {
    const std::uint32_t waiting = core.waiting;
    if (slots_ >= core.rob) next_ = larger(next_, ended_[(slots_ - core.rob) % limit]);
    std::int32_t& queue = scheduler == 0 ? next_ : queue_;
    if (waited_[scheduler] >= waiting)
      queue = larger(queue, started_[scheduler][(waited_[scheduler] - waiting) % most_waiting]);
    return larger(next_, queue);
  }

  /// Adds an instruction that ends at a time and was fetched at another.
  void add(unsigned slots, std::int32_t ticks, std::int32_t end, std::int32_t fetched) {
    for (unsigned i = 0; i < slots; ++i) ended_[slots_++ % limit] = end;
    next_ = larger(next_ + ticks, fetched);
  }

  /// The instruction to add waits in its scheduler for a time, until it starts. Those of general registers that wait
  /// for a few cycles make room for others before the scheduler is full.
  void wait(unsigned scheduler, std::int32_t ticks, std::int32_t start) {
    constexpr std::int32_t few = 8 * ticks_per_cycle;
    if (ticks > (scheduler == 0 ? few : 0)) started_[scheduler][waited_[scheduler]++ % most_waiting] = start;
  }

  /// Renames nothing before this time.
  void restart(std::int32_t time) { next_ = larger(next_, time); }

 private:
  static constexpr unsigned limit = 1024, most_waiting = 256;  // more than any core has

  std::int32_t ended_[limit];                       // when each of the last slots ended
  std::int32_t started_[schedulers][most_waiting];  // when each of the last operations started that waited
  std::uint32_t slots_ = 0, waited_[schedulers] = {};
  std::int32_t next_ = 0, queue_ = 0;
};

}  // namespace tally::models
