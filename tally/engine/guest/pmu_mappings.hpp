/// The pages of events (pmu_rings.hpp) in the memory of programs.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::guest {

/// Serves mmap(2) of an event; returns not_of_pmu for other files.
s64 map_pmu_event(Thread* t);
/// The program has unmapped memory.
void pmu_memory_unmapped(u64 at, u64 bytes);
void pmu_memory_moved(u64 from, u64 to);
/// The kernel's error for a call that changes such memory; 0: none. `to`: the new size or protection.
s64 pmu_memory_refuses(u64 number, u64 at, u64 bytes, u64 to);

}  // namespace tally::engine::guest
