/// What is simulated, set up once from the settings, and the tables that a thread has for it.
#pragma once
#include "tally/engine/instrument/cold_models.hpp"

namespace tally::engine::instrument {

const models::HierarchyShape& cache_shapes();
const models::TlbShape& tlb_shapes();
/// Bits of channel::Model that there was no memory for.
u32 lacking();
/// Of a thread's ColdModels with its tables, and as much with the end of its alignment.
u64 cold_model_bytes();
u64 own_room();
/// And of its rings behind them.
u64 rings_room();
/// Tables of zeros: nothing is kept of what was there.
void make_cold_models(Thread* t);

}  // namespace tally::engine::instrument
