// The models of one thread under the engine, when workers of the command run them.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "tally/engine/channel/model_counts.hpp"
#include "tally/engine/channel/value_table.hpp"
#include "tally/engine/models/branch/branches.hpp"
#include "tally/engine/models/cache/first_levels.hpp"
#include "tally/engine/models/cache/hierarchy.hpp"
#include "tally/engine/models/cache/tlb.hpp"
#include "tally/linux/machine/sparse_memory.hpp"

namespace tally::backend::engine {

/// Where to add the values of each instruction.
struct Placed {
  channel::LocatedValues statistics{};  ///< none: notes have no location; otherwise each is a models::PlacedNote
  channel::ValueTable table;            ///< default-initialized: no values of instructions
};

/// A model that processes the blocks of a ring.
class OffloadedModel {
 public:
  virtual ~OffloadedModel() = default;

  /// Processes a block with `count` entries of the ring's kind, and adds the results to `counts`. Overwrites the block.
  virtual void take(void* block, std::uint32_t count, channel::ModelCounts& counts, const Placed& placed) = 0;

  /// Returns a complete copy of its state; null if there is no memory.
  virtual std::unique_ptr<OffloadedModel> copy() const = 0;
};

/// The last level of a process, which its threads share, or of one thread.
struct LastLevel {
  linux::SparseMemory table;
  std::mutex mutex;
};

/// The geometry of caches and TLBs; a level without sets does not exist.
struct LevelShapes {
  tally::models::HierarchyShape caches;
  tally::models::TlbShape tlbs;
  bool has_lower = false;  ///< misses of the first levels go on, if only because cycles wait for them
};

/// Processes notes (models::Note).
class OffloadedCaches final : public OffloadedModel {
 public:
  /// Creates empty caches with this last level, or without one if it is null. Returns null if there is no memory.
  static std::unique_ptr<OffloadedCaches> make(const LevelShapes& shapes, std::shared_ptr<LastLevel> last);

  void take(void* block, std::uint32_t count, channel::ModelCounts& counts, const Placed& placed) override;
  std::unique_ptr<OffloadedModel> copy() const override;
  const std::shared_ptr<LastLevel>& last() const { return last_; }

 private:
  OffloadedCaches(const LevelShapes& shapes, linux::SparseMemory own, std::shared_ptr<LastLevel> last);
  struct OwnTables {
    std::uint64_t* first;
    tally::models::Tlbs::Tables tlbs;
    std::uint64_t* lower;
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

/// Creates a model that processes outcomes of branches (models::Outcome).
std::unique_ptr<OffloadedModel> offloaded_predictor();

}  // namespace tally::backend::engine
