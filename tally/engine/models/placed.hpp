// What models count at each instruction.
#pragma once

#include <cstdint>

#include "tally/engine/models/branch/branches.hpp"
#include "tally/engine/models/cache/first_levels.hpp"
#include "tally/engine/models/cache/tlb.hpp"
#include "tally/engine/models/observer.hpp"

namespace tally::models {

/// Adds what is counted to rows of instructions: a few figures of all that there are, which are numbered as they lie in
/// HierarchyCounts, TlbCounts and BranchCounts, one after the other.
class Placer : public Observer {
 public:
  static constexpr std::uint32_t figure_limit = 32;

  /// `figures`: numbers of `n` of them; of others nothing is added. The counts are only added to while this lives.
  Placer(const std::uint8_t* statistics, std::uint32_t n, const HierarchyCounts& caches, const TlbCounts& tlbs,
         const BranchCounts& branches);
  void stepped(std::uint64_t site) final;

 protected:
  ~Placer() = default;

 private:
  /// Where the instruction has its figures; null: they are left out.
  virtual std::uint64_t* row_of(std::uint64_t site) = 0;

  struct Figure {
    const std::uint64_t* now;
    std::uint64_t placed;
  };
  Figure values_[figure_limit];
  std::uint32_t count_;
};

/// What notes are looked up in; null: nothing.
struct NotedLevels {
  FirstLevels* first;
  LowerLevels* lower;
  Tlbs* tlbs;  ///< their counts are added to
};

/// The same as Tlbs::access_all(), FirstLevels::access_all() and LowerLevels::request_all() one after the other, and
/// the observer is told of every access that misses anything. Cost: theirs, and some 50 ns for each of those.
void access_all(const NotedLevels& levels, const PlacedNote* notes, std::uint32_t n, HierarchyCounts& caches,
                Observer& observer);

}  // namespace tally::models
