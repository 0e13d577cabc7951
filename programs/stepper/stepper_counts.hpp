#pragma once
#include <cstdint>

/// The reference for the engine's tests: a single-stepper that shares no code with the engine.
namespace tally::stepper {

/// The user-mode counts of a run, by the rules of docs/design: an instruction counts when it retires, a REP string
/// instruction counts once, and loads and stores are element accesses.
struct Counts {
  uint64_t instructions = 0;
  uint64_t conditional = 0;  ///< jcc, loop* and jrcxz, whether taken or not
  uint64_t taken = 0;        ///< conditional branches taken
  uint64_t direct_jumps = 0;
  uint64_t indirect_jumps = 0;
  uint64_t direct_calls = 0;
  uint64_t indirect_calls = 0;
  uint64_t returns = 0;
  uint64_t far = 0;  ///< syscall, int n, int3, iret and far transfers
  uint64_t loads = 0;
  uint64_t stores = 0;
  uint64_t prefetches = 0;  ///< software prefetches, which do not count as loads

  friend bool operator==(const Counts&, const Counts&) = default;

  Counts& operator+=(const Counts& other) {
    instructions += other.instructions;
    conditional += other.conditional;
    taken += other.taken;
    direct_jumps += other.direct_jumps;
    indirect_jumps += other.indirect_jumps;
    direct_calls += other.direct_calls;
    indirect_calls += other.indirect_calls;
    returns += other.returns;
    far += other.far;
    loads += other.loads;
    stores += other.stores;
    prefetches += other.prefetches;
    return *this;
  }
};

}  // namespace tally::stepper
