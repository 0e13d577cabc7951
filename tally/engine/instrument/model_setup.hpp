/// Sets up the simulated machine from the settings, and the tables of each thread.
#pragma once
#include "tally/engine/instrument/cold_models.hpp"

namespace tally::engine::instrument {

const models::HierarchyShape& cache_shapes();
const models::TlbShape& tlb_shapes();
/// Returns bits of channel::Model that there was no memory for.
u32 models_without_memory();
/// Sizes of a thread's ColdModels with its tables, and of the same including the padding at its end.
u64 cold_model_bytes();
u64 own_room();
/// Size of its rings, which follow.
u64 rings_bytes();
/// Constructs a thread's ColdModels. The tables contain zeros, and nothing from before.
void make_cold_models(Thread* t);

}  // namespace tally::engine::instrument
