// What cycles are spent on.
#pragma once

#include <array>
#include <cstdint>

namespace tally::models {

/// Causes of cycles. Those of the core model come first.
enum class Cause : std::uint8_t {
  light,        ///< retiring: slots of instructions that take one
  heavy,        ///< retiring: slots of instructions that take several
  core,         ///< waits for results and for ports, including dividers
  l1,           ///< waits for values from the first level
  forwarding,   ///< waits for values that were stored just before
  locks,        ///< locked instructions and full fences
  front_end,    ///< fetches: taken branches and lines of code, and in CycleTimes those that miss caches or TLBs
  mispredicts,  ///< mispredicted branches; of the core model what depends on the code after them
  l2,           ///< waits for values from the second level
  l3,           ///< from the last level
  dram,         ///< from memory
  tlb,          ///< translations of loads
  count,
};

constexpr unsigned causes = static_cast<unsigned>(Cause::count);
constexpr unsigned core_causes = static_cast<unsigned>(Cause::l2);  ///< those of the core model

/// Times by cause: `of(Cause::core)`. With `n` = core_causes, only the causes of the core model.
template <unsigned n>
struct Times {
  std::array<std::uint64_t, n> by = {};

  constexpr std::uint64_t& of(Cause cause) { return by[static_cast<unsigned>(cause)]; }
  constexpr std::uint64_t of(Cause cause) const { return by[static_cast<unsigned>(cause)]; }
  constexpr std::uint64_t sum() const {
    std::uint64_t all = 0;
    for (const std::uint64_t time : by) all += time;
    return all;
  }
  /// Adds `times` of `other`.
  constexpr void add(const Times& other, std::uint64_t times = 1) {
    for (unsigned i = 0; i < n; ++i) by[i] += other.by[i] * times;
  }
  bool operator==(const Times&) const = default;
};
using CoreTimes = Times<core_causes>;
using CycleTimes = Times<causes>;

}  // namespace tally::models
