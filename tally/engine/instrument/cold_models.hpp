/// The parts of a thread's simulated machine that generated code does not access. Used if the models run in the
/// program's process.
#pragma once
#include "tally/engine/context.hpp"
#include "tally/engine/instrument/model_probes.hpp"
#include "tally/engine/models/branch/branches.hpp"
#include "tally/engine/models/branch/missed_branches.hpp"
#include "tally/engine/models/branch/tage.hpp"
#include "tally/engine/models/cache/first_levels.hpp"
#include "tally/engine/models/cache/tlb.hpp"

// Callers of such a function need not save registers: the function saves them.
#define TALLY_NO_SAVES __attribute__((no_caller_saved_registers))

namespace tally::engine::instrument {

/// channel::ModelValues with the types of the models.
struct Values {
  models::HierarchyCounts caches;
  models::TlbCounts tlbs;
  models::BranchCounts branches;
};
static_assert(sizeof(Values) == sizeof(channel::ModelValues));
static_assert(offsetof(channel::ModelValues, itlb) == offsetof(Values, tlbs));
static_assert(offsetof(channel::ModelValues, conditional) == offsetof(Values, branches));
static_assert(offsetof(channel::ModelValues, prefetches) == offsetof(models::HierarchyCounts, prefetches));
static_assert(offsetof(channel::ModelValues, chases_l2) == offsetof(models::HierarchyCounts, chases));
static_assert(offsetof(channel::ModelValues, chase_stores_l2) == offsetof(models::HierarchyCounts, chase_stores));
static_assert(offsetof(channel::ModelValues, misses) == offsetof(models::HierarchyCounts, misses));
static_assert(offsetof(channel::ModelValues, string_steps) == offsetof(models::HierarchyCounts, string_steps));
static_assert(offsetof(channel::ModelValues, l1d_across) == offsetof(models::HierarchyCounts, l1d_across));

inline Values& values_of(channel::ModelValues& v) { return reinterpret_cast<Values&>(v); }

static_assert(sizeof(models::MissedBranches) == sizeof(channel::ModelMissedBranches));
inline models::MissedBranches& missed_of(channel::ModelMissedBranches& missed) {
  return reinterpret_cast<models::MissedBranches&>(missed);
}

/// Rings with data for models that the command may run: access records and outcomes.
inline constexpr u32 offloaded_rings = 2;

/// Areas of a thread's tables of located values; 0: none yet.
struct LocatedTables {
  u32 outside;       // of what it counts in no part of the run
  u32 part, within;  // the last part, and the area of what it counts there
};

/// A thread's model data, apart from the tables that generated code accesses.
struct ColdModels {
  alignas(access_log_room) u64 access_log[access_log_room / 8];
  alignas(notes_room) models::Note note[notes_room / sizeof(models::Note)];
  alignas(notes_room) u32 outcome[notes_room / sizeof(u32)];
  LocatedTables located;
  models::FirstLevels first;
  models::LowerLevels lower;
  models::Tlbs tlbs;
  models::Tage tage;
  alignas(16) u8 plain_caches[sizeof(models::Hierarchy)];
  alignas(16) u8 plain_tlbs[sizeof(models::Tlbs)];
  alignas(16) u8 plain_branches[sizeof(models::Branches)];
};

/// Returns the pointer to a thread's ColdModels: the last word of the page of its ModelThread.
inline ColdModels*& cold_models_of(Thread* t) {
  return *reinterpret_cast<ColdModels**>(reinterpret_cast<u64>(t) + 0x1ff8);
}

/// Clears the direction flag and the alignment-check flag (AC) while it lives, as compilers assume. The program may
/// have set them.
class CompilersFlags {
 public:
  CompilersFlags() {
    asm volatile("pushfq; popq %0" : "=r"(set_));
    set_ &= direction_flag | alignment_flag;
    if (set_ != 0) asm volatile("pushfq; andq %0, (%%rsp); popfq" ::"r"(~set_) : "cc", "memory");
  }
  ~CompilersFlags() {
    if (set_ != 0) asm volatile("pushfq; orq %0, (%%rsp); popfq" ::"r"(set_) : "cc", "memory");
  }
  CompilersFlags(const CompilersFlags&) = delete;
  CompilersFlags& operator=(const CompilersFlags&) = delete;

 private:
  u64 set_;
};

/// Protects the tables of last levels that threads share.
extern Lock llc_lock;

inline bool on(channel::Model m) { return (settings().models.on & m) != 0; }

/// Constructs the plain models of a thread, empty, over their tables.
void make_plain(ColdModels& r, const models::Hierarchy& caches, const models::Tlbs& tlbs);
/// Feeds the access log to the plain models, and empties it.
TALLY_NO_SAVES void play_access_log(Thread* t, ColdModels& r);

}  // namespace tally::engine::instrument
