/// The machine that the engine simulates while it counts, and what the models counted.
///
/// Plain numbers: this directory does not use the models (tally/engine/models); the engine and the command do.
#pragma once
#include <stdint.h>

namespace tally::channel {

/// The simulated components: bits of Models::on. Each costs time, so only the requested ones are simulated.
enum Model : uint32_t {
  model_branches = 1u << 0,  ///< conditional branches, indirect targets, the return stack
  model_l1i = 1u << 1,
  model_l1d = 1u << 2,
  model_lower = 1u << 3,  ///< L2 and the last level, which need both first levels
  model_tlbs = 1u << 4,
  model_core = 1u << 5,  ///< cycles of the instructions without misses
  model_llc = 1u << 6,   ///< the last level alone; only in ModelCounts::without
};

/// A cache level or a TLB, like models::CacheShape; `sets` 0: it does not exist.
struct ModelLevel {
  uint32_t sets, ways;
  uint8_t line_bits, replacement, write_allocate, inclusive;
};

/// The simulated machine.
struct Models {
  uint32_t on;       ///< bits of Model; 0: nothing is simulated
  uint8_t full;      ///< 1: the precision `full`
  uint8_t each;      ///< 1: the plain models process every access, not only those that generated code cannot resolve
  uint8_t compared;  ///< 1: both kinds of models run, for tests: see ModelCounts
  uint8_t own_llc;   ///< 1: each thread has a last level of its own
  uint8_t next_line, streamer;  ///< enabled prefetchers
  uint8_t streams;              ///< 1: the machine prefetches streams, so cycles do not wait for them
  uint8_t worker_count;         ///< workers that run the models for generated code (NoteRing); 0: the engine runs them
  uint8_t core;                 ///< 1 + the index of its core in machines::core_names(): for programs that ask; 0: none
  uint16_t crowded_load, crowded_store;  ///< see models::CrowdTimes
  ModelLevel l1i, l1d, l2, llc, itlb, dtlb, stlb;
  uint8_t shipped;  ///< 1 + the index of its shipped model in machines::names(); 0: none. For programs that ask, like
  char name[39];    ///< its name, cut at 38 bytes
};

/// How long one kind of instruction takes, like models::Timing.
struct ModelTiming {
  uint16_t slots;
  uint8_t is_known, latency;
  uint16_t ports[3];
  uint8_t cycles[3], reserved;
};

/// At least the number of values of models::Operation.
inline constexpr uint32_t core_kinds = 136;

/// Like models::MissedLoads.
struct ModelMissedLoads {
  uint64_t l2, llc, memory, stlb, walk, code;
};

/// The core of the machine, like models::CoreTable; with model_core.
struct ModelCore {
  uint16_t rob, scheduler, loads, vector_loads, stores;
  uint8_t width, load_latency, vector_load_latency, index_latency, forward, vector_forward, forward_blocked, renames;
  uint8_t renamed_stores, fuses, fetch, fetches, indirect, returns, access_bytes, store_bytes, store_joins,
      store_merges;
  uint8_t loads_extend, shifts_keep_flags, stack_sync, fuses_moves, computes_constants, reissues, adds_index_last,
      loop_queue, mispredict, waiting, add_to_add, wrong_target, reserved[2];
  ModelMissedLoads exposed;        ///< cycles that a branch waits for each of these loads
  ModelTiming timing[core_kinds];  ///< indexed by models::Operation
};

/// References and misses of a level, like models::LevelCounts.
struct ModelLevelCounts {
  uint64_t fetches, fetch_misses, loads, load_misses, stores, store_misses;
};

/// What delayed the misses of first levels, like models::MissCounts.
struct ModelMissCounts {
  uint64_t stlb_data, stlb_chases, stlb_fetches;
  uint64_t walk_data, walk_chases, walk_fetches;
  uint64_t stream_llc, stream_memory, busy_llc, busy_memory, next_llc, next_memory;
  uint64_t busy_l2, crowded;
  uint64_t deciding_l2, deciding_llc, deciding_memory, deciding_stlb, deciding_walk;
};

/// What the models count for a thread. They do not count references of first levels that generated code resolves alone:
/// those are the loads and stores that are counted anyway.
struct ModelValues {
  ModelLevelCounts l1i, l1d, l2, llc;
  ModelLevelCounts l1d_across;  ///< what accesses across line boundaries add to l1d: see models::HierarchyCounts
  uint64_t prefetches;
  uint64_t chases_l2, chases_llc, chases_memory;  ///< see models::ChaseCounts
  uint64_t chase_stores_l2, chase_stores_llc, chase_stores_memory;
  ModelMissCounts misses;  ///< with model_core
  uint64_t string_steps;   ///< see models::HierarchyCounts
  ModelLevelCounts itlb, dtlb, stlb;
  uint64_t conditional, conditional_misses, indirect, indirect_misses, returns, return_misses;
};

/// Causes of cycles in the core model: models::core_causes.
inline constexpr uint32_t core_cause_count = 8;

/// Results of the core model: cycles without misses by cause, and of the instructions that it processed those that it
/// does not know, and loads that a store 4 KiB away may delay.
struct CoreValues {
  uint64_t cycles[core_cause_count];
  uint64_t instructions, unknown, aliases;
};

/// What the engine executed at its own address, one instruction at a time: no model processed it.
struct UnseenValues {
  uint64_t instructions, accesses;  ///< accesses: their loads and stores
};

/// Branches that were mispredicted most often since the engine has read them, like models::MissedBranches.
struct ModelMissedBranches {
  uint64_t all, indirect, slot[256];
};

/// A page of the file for each thread. Only that thread writes it, at any time. With Models::worker_count the command
/// also writes what its workers find: misses, and references of the levels after the first.
struct ModelCounts {
  ModelValues values;
  ModelValues plain;  ///< with Models::compared: the values of the plain models
  uint64_t without;   ///< bits of Model whose counts lack something: no memory, or nobody took the records
  CoreValues core;    ///< added when a process ends or executes another program
  UnseenValues unseen;
  ModelMissedBranches missed;  ///< with model_branches
  ModelMissedLoads collected;  ///< those that the engine has read
};
inline constexpr uint64_t model_counts_bytes = 4096;
static_assert(sizeof(ModelCounts) <= model_counts_bytes);

}  // namespace tally::channel
