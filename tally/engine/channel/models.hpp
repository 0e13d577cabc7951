/// What the engine is to simulate beside counting, and what came of it.
///
/// Plain numbers: this directory does not know the models (tally/engine/models), which the engine and the command both
/// do.
#pragma once
#include <stdint.h>

namespace tally::channel {

/// What is simulated: bits of Models::on. Each costs time, so each is there only when it is asked for.
enum Model : uint32_t {
  model_branches = 1u << 0,  ///< conditional branches, indirect targets, the return stack
  model_l1i = 1u << 1,
  model_l1d = 1u << 2,
  model_lower = 1u << 3,  ///< L2 and the last level, which need both first levels
  model_tlbs = 1u << 4,
  model_core = 1u << 5,  ///< cycles of the instructions themselves
  model_llc = 1u << 6,   ///< the last level alone; only in ModelCounts::without
};

/// A cache level or a TLB, as sim::CacheShape has it; `sets` 0: there is none.
struct ModelLevel {
  uint32_t sets, ways;
  uint8_t line_bits, replacement, write_allocate, inclusive;
};

/// The machine.
struct Models {
  uint32_t on;        ///< bits of Model; 0: nothing is simulated
  uint8_t direction;  ///< sim::Direction: who predicts conditional branches
  uint8_t each;      ///< every access is handed to the plain models, instead of those that generated code cannot settle
  uint8_t compared;  ///< both are done, for tests: see ModelCounts
  uint8_t own_llc;   ///< each thread has a last level of its own
  uint8_t next_line, streamer;  ///< prefetchers that work
  uint8_t handed_on;  ///< so many threads of the command carry the models after what generated code looks at: NoteRing
  uint8_t reserved;
  ModelLevel l1i, l1d, l2, llc, itlb, dtlb, stlb;
  char name[40];  ///< of the machine, cut at 39 bytes: for who asks what counts
};

/// How long one kind of instruction takes, as sim::Timing has it.
struct ModelTiming {
  uint16_t busy;
  uint16_t slots;
  uint8_t is_known, latency, unit, reserved;
};

/// At least as many as sim::Operation has.
inline constexpr uint32_t core_kinds = 96;

/// The core of the machine, as sim::CoreTable has it; with model_core.
struct ModelCore {
  uint8_t width, window, in_order, load_latency, vector_load_latency, load_busy, store_busy, reserved;
  ModelTiming timing[core_kinds];  ///< by the numbers of sim::Operation
};

/// References and misses of a level, as sim::LevelCounts has them.
struct ModelLevelCounts {
  uint64_t fetches, fetch_misses, loads, load_misses, stores, store_misses;
};

/// What is counted of a thread. References of first levels that generated code settles alone are not among these: they
/// are the loads and stores that are counted anyway.
struct ModelValues {
  ModelLevelCounts l1i, l1d, l2, llc;
  ModelLevelCounts l1d_across;  ///< what accesses across lines add to l1d: see sim::HierarchyCounts
  uint64_t prefetches;
  ModelLevelCounts itlb, dtlb, stlb;
  uint64_t conditional, conditional_misses, indirect, indirect_misses, returns, return_misses, btb_misses;
};

/// What the core model says: cycles in which nothing is missed, the instructions that it saw, and those among them that
/// it does not know.
struct CoreValues {
  uint64_t cycles, instructions, unknown;
};

/// What the engine executed at its own address, one instruction at a time: no model saw it.
struct UnseenValues {
  uint64_t instructions, accesses;  ///< accesses: their loads and stores
};

/// A page of the file for each thread. Written by that thread alone, at any time; with Models::handed_on the command
/// writes what its threads find: misses, and what levels behind the first are asked for.
struct ModelCounts {
  ModelValues values;
  ModelValues plain;  ///< with Models::compared: the same by the plain models alone
  uint64_t without;   ///< bits of Model that something is missing of: no memory, or nobody took it
  CoreValues core;    ///< added up when a process ends or executes another program
  UnseenValues unseen;
};
inline constexpr uint64_t model_counts_bytes = 4096;
static_assert(sizeof(ModelCounts) <= model_counts_bytes);

}  // namespace tally::channel
