// Branch prediction of one thread: TAGE for directions and targets, and a return stack.
#pragma once

#include <cstdint>

#include "tally/engine/models/branch/return_stack.hpp"
#include "tally/engine/models/branch/tage.hpp"

namespace tally::models {

/// Branches and mispredictions. Far branches and direct jumps and calls are not predicted and not counted here.
struct BranchCounts {
  std::uint64_t conditional = 0, conditional_misses = 0;
  std::uint64_t indirect = 0, indirect_misses = 0;
  std::uint64_t returns = 0, return_misses = 0;
  bool operator==(const BranchCounts&) const = default;

  std::uint64_t misses() const { return conditional_misses + indirect_misses + return_misses; }
  void add(const BranchCounts& other);
};

/// All predictors of a thread. Owns its state, some 100 KB. If it is placed on existing memory instead of constructed,
/// call reset() first.
class Branches {
 public:
  Branches() { reset(); }
  void reset();

  void conditional(std::uint64_t pc, bool taken);
  /// A direct call that returns to `next`.
  void call(std::uint64_t next) { returns_.call(next); }
  /// An indirect jump.
  void indirect_jump(std::uint64_t pc, std::uint64_t target);
  /// An indirect call that returns to `next`.
  void indirect_call(std::uint64_t pc, std::uint64_t target, std::uint64_t next);
  /// A return.
  void ret(std::uint64_t target);

  const BranchCounts& counts() const { return counts_; }
  /// Resets the counts only.
  void clear_counts() { counts_ = {}; }

 private:
  Tage tage_;
  ReturnStack returns_;
  BranchCounts counts_;
};

}  // namespace tally::models
