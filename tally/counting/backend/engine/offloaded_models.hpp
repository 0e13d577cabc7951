// The models of one thread under the engine, where threads of the command carry them.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "tally/engine/channel/code_log.hpp"
#include "tally/engine/channel/models.hpp"
#include "tally/engine/models/branch/branches.hpp"
#include "tally/engine/models/cache/first_levels.hpp"
#include "tally/engine/models/cache/hierarchy.hpp"
#include "tally/engine/models/cache/tlb.hpp"
#include "tally/linux/machine/sparse_memory.hpp"

namespace tally::backend::engine {

/// Where what each instruction counts is added.
struct Placed {
  channel::LocatedValues statistics{};   ///< none: notes stand alone, else each is a sim::PlacedNote
  channel::CodeValues* table = nullptr;  ///< null: it is not kept
};

/// What carries the blocks of a ring.
class OffloadedModel {
 public:
  virtual ~OffloadedModel() = default;

  /// A block, which is overwritten: `count` of what the ring holds. What comes of it is added to `values`.
  virtual void take(void* block, std::uint32_t count, channel::ModelValues& values, const Placed& placed) = 0;

  /// What it is now, over a copy of all; null without memory.
  virtual std::unique_ptr<OffloadedModel> copy() const = 0;

  /// Its state, over a block, as the engine has it. Who is never taken back leaves the block alone.
  virtual void write_back(void* /*block*/) const {}
};

/// The last level of a process, which its threads share, or of one thread.
struct LastLevel {
  linux::SparseMemory table;
  std::mutex mutex;
};

/// What caches and TLBs look like; a level without sets does not exist.
struct LevelShapes {
  tally::models::HierarchyShape caches;
  tally::models::TlbShape tlbs;
};

/// Takes notes (sim::Note).
class OffloadedCaches final : public OffloadedModel {
 public:
  /// Empty ones, before this last level, null for none. Null without memory.
  static std::unique_ptr<OffloadedCaches> make(const LevelShapes& shapes, std::shared_ptr<LastLevel> last);

  void take(void* block, std::uint32_t count, channel::ModelValues& values, const Placed& placed) override;
  std::unique_ptr<OffloadedModel> copy() const override;
  const std::shared_ptr<LastLevel>& last() const { return last_; }

 private:
  OffloadedCaches(const LevelShapes& shapes, linux::SparseMemory own, std::shared_ptr<LastLevel> last);
  struct OwnTables {
    std::uint64_t* first;
    tally::models::Tlbs::Tables tlbs;
    std::uint64_t* l2;
    std::uint64_t* first_times;
  };
  OwnTables tables() const;
  void take_placed(const tally::models::PlacedNote* notes, std::uint32_t count, channel::ModelValues& values,
                   const Placed& placed);
  std::uint64_t* llc_table() const { return last_ != nullptr ? last_->table.words() : nullptr; }

  LevelShapes shapes_;
  linux::SparseMemory own_;
  std::shared_ptr<LastLevel> last_;
  tally::models::FirstLevels first_;
  tally::models::Tlbs tlbs_;
  tally::models::LowerLevels lower_;
};

/// Takes outcomes of conditional branches (sim::Outcome).
std::unique_ptr<OffloadedModel> offloaded_directions(tally::models::Direction direction);

}  // namespace tally::backend::engine
