// The counts of models by instruction.
#pragma once

#include <cstdint>

#include "tally/engine/models/branch/branches.hpp"
#include "tally/engine/models/branch/tage.hpp"
#include "tally/engine/models/cache/first_levels.hpp"
#include "tally/engine/models/cache/tlb.hpp"
#include "tally/engine/models/observer.hpp"

namespace tally::models {

/// For counts that a recorder does not record.
inline constexpr HierarchyCounts no_caches{};
inline constexpr TlbCounts no_tlbs{};
inline constexpr BranchCounts no_branches{};

/// Adds counts to a row per instruction: selected statistics, numbered by their order in HierarchyCounts, TlbCounts and
/// BranchCounts, one after the other.
class InstructionRecorder : public Observer {
 public:
  static constexpr std::uint32_t figure_limit = 41, group_size = 8;

  /// `statistics`: the numbers of the `n` selected ones. The counts may only be added to during the lifetime of this
  /// object.
  InstructionRecorder(const std::uint8_t* statistics, std::uint32_t n, const HierarchyCounts& caches,
                      const TlbCounts& tlbs, const BranchCounts& branches);
  void stepped(std::uint64_t site) final;

 protected:
  ~InstructionRecorder() = default;

 private:
  /// Returns a group of the instruction's counts, those from `group` × `group_size` on; null: they are dropped.
  virtual std::uint64_t* row_of(std::uint64_t site, std::uint32_t group) = 0;

  struct Statistic {
    const std::uint64_t* now;
    std::uint64_t placed;
  };
  Statistic values_[figure_limit];
  std::uint32_t count_;
};

/// The levels that process notes; null: none.
struct NotedLevels {
  FirstLevels* first;
  LowerLevels* lower;
  Tlbs* tlbs;  ///< adds to their own counts
};

/// Does the same as Tlbs::access_all(), FirstLevels::access_all() and LowerLevels::request_all(), one after the other,
/// and notifies the observer of every access that misses. Cost: theirs, and some 50 ns for each of those accesses.
void access_all(const NotedLevels& levels, const PlacedNote* notes, std::uint32_t n, HierarchyCounts& caches,
                Observer& observer);

/// Does the same as Tage::play(), and notifies the observer of every wrong prediction, by site_of_branch(), after
/// adding it to `counts`: also of returns, whose words the predictor does not get. Overwrites the words.
Mispredictions play_placed(Tage& predictor, Outcome* words, std::uint32_t n, BranchCounts& counts, Observer& observer);

}  // namespace tally::models
