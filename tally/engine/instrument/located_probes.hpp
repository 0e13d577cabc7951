/// Model counts per instruction (channel::CodeValues). If they are requested, access records and log operations
/// contain the instruction that they belong to.
#pragma once
#include "tally/engine/instrument/cold_models.hpp"
#include "tally/engine/models/core/causes.hpp"
#include "tally/engine/models/placed.hpp"

namespace tally::engine::instrument {

inline bool locates_values() { return settings().placed.count != 0; }
/// Whether the counts include others than the core's cycles, which are computed when the process ends.
inline bool places_misses() { return channel::has_misses(settings().placed); }
/// Size of a thread's table, which follows the rest of its model data.
inline u64 located_values_bytes() { return locates_values() ? channel::area_bytes : 0; }

/// Maps an empty table for a thread that has its channel record and its models. False without memory.
bool located_values_attach(Thread* t);
/// Records what the models of a thread count from now on in the table of this part of the run (its label; 0: none).
/// The thread is stopped, or is the caller, and its models are settled. Without an area, these counts are in no row.
void located_values_enter_part(Thread* t, u32 part);
/// Adds cycles of the core for all executions of an instruction, which may be past code, to the table of `t`.
/// `mapping`: its mapping_of().
void place_core_cycles(Thread* t, u64 pc, u32 mapping, const models::CoreTimes& cycles, u64 executions);

/// Records by instruction what the models of a thread count while the object lives.
class ValueRecorder final : public models::InstructionRecorder {
 public:
  ValueRecorder(Thread* t, const models::HierarchyCounts& caches, const models::TlbCounts& tlbs,
                const models::BranchCounts& branches)
      : InstructionRecorder(settings().placed.figure, settings().placed.count, caches, tlbs, branches), thread_(t) {}

 private:
  u64* row_of(u64 site, u32 group) override;

  Thread* thread_;
};

}  // namespace tally::engine::instrument
