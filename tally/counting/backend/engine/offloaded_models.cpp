#include "tally/counting/backend/engine/offloaded_models.hpp"

#include <bit>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#include "tally/engine/channel/notes.hpp"
#include "tally/engine/models/branch/missed_branches.hpp"
#include "tally/engine/models/placed.hpp"
#include "tally/engine/models/table_memory.hpp"

namespace tally::backend::engine {
namespace {

using tally::models::FirstLevels;
using tally::models::HierarchyCounts;

std::uint64_t own_words(const LevelShapes& shapes) {
  return FirstLevels::words(shapes.caches) + tally::models::tlb_words(shapes.tlbs) +
         tally::models::LowerLevels::own_words(shapes.caches) + FirstLevels::time_words(shapes.caches) +
         tally::models::Tlbs::time_words(shapes.tlbs);
}

void add_modelled(channel::ModelLevelCounts& to, const tally::models::LevelCounts& from) {
  auto sum = std::bit_cast<tally::models::LevelCounts>(to);
  sum.add(from);
  to = std::bit_cast<channel::ModelLevelCounts>(sum);
}

/// Skips the references to the first levels, which the engine counts in the same memory at the same time.
void add_modelled(channel::ModelValues& to, const HierarchyCounts& from) {
  to.l1i.fetch_misses += from.l1i.fetch_misses;
  to.l1d.load_misses += from.l1d.load_misses;
  to.l1d.store_misses += from.l1d.store_misses;
  to.l1d_across.load_misses += from.l1d_across.load_misses;
  to.l1d_across.store_misses += from.l1d_across.store_misses;
  add_modelled(to.l2, from.l2);
  add_modelled(to.llc, from.llc);
  to.prefetches += from.prefetches;
  to.chases_l2 += from.chases.l2;
  to.chases_llc += from.chases.llc;
  to.chases_memory += from.chases.memory;
  to.chase_stores_l2 += from.chase_stores.l2;
  to.chase_stores_llc += from.chase_stores.llc;
  to.chase_stores_memory += from.chase_stores.memory;
  auto misses = std::bit_cast<tally::models::MissCounts>(to.misses);
  misses.add(from.misses);
  to.misses = std::bit_cast<channel::ModelMissCounts>(misses);
}

void add_modelled(channel::ModelValues& to, const tally::models::TlbCounts& from) {
  add_modelled(to.itlb, from.itlb);
  add_modelled(to.dtlb, from.dtlb);
  add_modelled(to.stlb, from.stlb);
}

}  // namespace

OffloadedCaches::OffloadedCaches(const LevelShapes& shapes, linux::SparseMemory own, std::shared_ptr<LastLevel> last)
    : shapes_(shapes), own_(std::move(own)), last_(std::move(last)) {}

// Their order: first levels, TLBs, lower levels, times of the first levels, times of the TLBs.
OffloadedCaches::OwnTables OffloadedCaches::tables() const {
  OwnTables tables;
  tables.first = own_.words();
  std::uint64_t* const tlbs = tables.first + FirstLevels::words(shapes_.caches);
  tables.tlbs = tally::models::tables_in(shapes_.tlbs, tlbs);
  tables.lower = tlbs + tally::models::tlb_words(shapes_.tlbs);
  tables.first_times = tables.lower + tally::models::LowerLevels::own_words(shapes_.caches);
  tables.tlbs.times = tables.first_times + FirstLevels::time_words(shapes_.caches);
  return tables;
}

std::unique_ptr<OffloadedCaches> OffloadedCaches::make(const LevelShapes& shapes, std::shared_ptr<LastLevel> last) {
  auto own = linux::SparseMemory::make(own_words(shapes) * sizeof(std::uint64_t));
  if (!own) return nullptr;
  std::unique_ptr<OffloadedCaches> caches(new OffloadedCaches(shapes, std::move(*own), std::move(last)));
  const OwnTables tables = caches->tables();
  caches->first_ = FirstLevels(shapes.caches, tables.first, tables.first_times);
  caches->tlbs_ = tally::models::Tlbs(shapes.tlbs, tables.tlbs);
  caches->lower_ = tally::models::LowerLevels(shapes.caches, tables.lower, caches->llc_table());
  return caches;
}

std::unique_ptr<OffloadedModel> OffloadedCaches::copy() const {
  auto own = own_.copy();
  if (!own) return nullptr;
  std::shared_ptr<LastLevel> last;
  if (last_ != nullptr) {
    const std::lock_guard lock(last_->mutex);
    auto table = last_->table.copy();
    if (!table) return nullptr;
    last = std::make_shared<LastLevel>();
    last->table = std::move(*table);
  }
  std::unique_ptr<OffloadedCaches> caches(new OffloadedCaches(shapes_, std::move(*own), std::move(last)));
  const OwnTables tables = caches->tables();
  caches->first_ = first_.over(tables.first, tables.first_times);
  caches->tlbs_ = tlbs_.over(tables.tlbs);
  caches->lower_ = lower_.over(tables.lower, caches->llc_table());
  return caches;
}

namespace {

class LocatedValuesRecorder final : public tally::models::InstructionRecorder {
 public:
  LocatedValuesRecorder(const Placed& placed, const HierarchyCounts& caches, const tally::models::TlbCounts& tlbs,
                        const tally::models::BranchCounts& branches)
      : InstructionRecorder(placed.statistics.figure, placed.statistics.count, caches, tlbs, branches),
        table_(placed.table) {}

 private:
  std::uint64_t* row_of(std::uint64_t site, std::uint32_t group) override { return table_.at(site, group); }

  channel::ValueTable table_;
};

}  // namespace

void OffloadedCaches::take_placed(const tally::models::PlacedNote* notes, std::uint32_t count,
                                  channel::ModelValues& values, const Placed& placed) {
  const bool has_tlbs = tally::models::tlb_words(shapes_.tlbs) != 0;
  HierarchyCounts counts;
  {
    std::unique_lock<std::mutex> lock;
    if (last_ != nullptr) lock = std::unique_lock(last_->mutex);
    LocatedValuesRecorder placer(placed, counts, tlbs_.counts(), tally::models::no_branches);
    tally::models::access_all({&first_, shapes_.has_lower ? &lower_ : nullptr, has_tlbs ? &tlbs_ : nullptr}, notes,
                              count, counts, placer);
  }
  add_modelled(values, counts);
  add_modelled(values, tlbs_.counts());
  tlbs_.clear_counts();
}

void OffloadedCaches::take(void* block, std::uint32_t count, channel::ModelCounts& to, const Placed& placed) {
  channel::ModelValues& values = to.values;
  if (channel::has_misses(placed.statistics))
    return take_placed(static_cast<const tally::models::PlacedNote*>(block), count, values, placed);
  auto* const notes = static_cast<tally::models::Note*>(block);
  if (tally::models::tlb_words(shapes_.tlbs) != 0) {
    tlbs_.access_all(notes, count);
    add_modelled(values, tlbs_.counts());
    tlbs_.clear_counts();
  }
  HierarchyCounts counts;
  const std::uint32_t missed = first_.access_all(notes, count, counts);
  if (missed != 0 && shapes_.has_lower) {
    std::unique_lock<std::mutex> lock;
    if (last_ != nullptr) lock = std::unique_lock(last_->mutex);
    lower_.request_all(notes, missed, counts);
  }
  add_modelled(values, counts);
}

namespace {

tally::models::MissedBranches& missed_of(channel::ModelMissedBranches& missed) {
  static_assert(sizeof missed == sizeof(tally::models::MissedBranches));
  return reinterpret_cast<tally::models::MissedBranches&>(missed);
}

class OffloadedPredictor final : public OffloadedModel {
 public:
  OffloadedPredictor() { predictor_.reset(); }

  void take(void* block, std::uint32_t count, channel::ModelCounts& to, const Placed& placed) override {
    tally::models::BranchCounts counts;
    LocatedValuesRecorder placer(placed, tally::models::no_caches, tally::models::no_tlbs, counts);
    auto* const words = static_cast<tally::models::Outcome*>(block);
    const auto wrong = channel::has_misses(placed.statistics)
                           ? tally::models::play_placed(predictor_, words, count, counts, placer)
                           : predictor_.play(words, count, words);
    to.values.conditional_misses += wrong.conditional;
    to.values.indirect_misses += wrong.indirect;
    missed_of(to.missed).add_all(words, wrong.words());
  }
  std::unique_ptr<OffloadedModel> copy() const override {
    return std::unique_ptr<OffloadedModel>(new (std::nothrow) OffloadedPredictor(*this));
  }

 private:
  tally::models::Tage predictor_;
};

}  // namespace

std::unique_ptr<OffloadedModel> offloaded_predictor() { return std::make_unique<OffloadedPredictor>(); }

}  // namespace tally::backend::engine
