/// What the models count at each instruction (channel::CodeValues), where that is asked for: then notes and steps of
/// the tape say which instruction they are of.
#pragma once
#include "tally/engine/instrument/cold_models.hpp"
#include "tally/engine/models/placed.hpp"

namespace tally::engine::instrument {

inline bool locates_values() { return settings().placed.count != 0; }
/// Not the core's cycles alone, which wait for the end of the process.
inline bool places_misses() { return locates_values() && settings().placed.figure[0] != channel::placed_cycles; }
/// Room of a thread's table, behind what else it has for its models.
inline u64 located_values_bytes() { return locates_values() ? channel::area_bytes : 0; }

/// A thread that has its record and its models: its table is empty. False without memory.
bool located_values_attach(Thread* t);
/// Cycles of the core, of all executions of an instruction. This thread tells of them.
void place_core_cycles(Thread* t, u64 pc, u64 cycles, u64 executions);

/// Of what this thread's models count while it lives.
class FigurePlacer final : public models::Placer {
 public:
  FigurePlacer(Thread* t, const models::HierarchyCounts& caches, const models::TlbCounts& tlbs,
               const models::BranchCounts& branches)
      : Placer(settings().placed.figure, settings().placed.count, caches, tlbs, branches), thread_(t) {}

 private:
  u64* row_of(u64 site) override;

  Thread* thread_;
};

}  // namespace tally::engine::instrument
