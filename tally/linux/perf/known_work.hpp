// Whether a PMU counts at all, and truly: a loop whose branches and instructions are known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tally/linux/perf/perf_event.hpp"

namespace tally::linux {

/// What a PMU said about the loop.
struct KnownWork {
  const char* event = "";          ///< what was counted: "branches", or "instructions" where it has no branches
  int os_errno = 0;                ///< why the counter did not open; 0: it did
  std::optional<PerfValue> value;  ///< what it counted
  std::uint64_t least = 0;         ///< what a true count is at least
  std::uint64_t most = 0;          ///< and at most: with the system calls that read the counter
  bool operator==(const KnownWork&) const = default;
};

/// Counts a loop of 500 branches by the PMU of this type number (nothing: the only one), in user mode. A virtual PMU
/// that does not count, counts something else, or has frozen, is found out so (after rr's self-check). Where the PMU
/// has no event for branches, as QEMU's for arm64, instructions are counted. Cost: ten microseconds.
KnownWork count_known_work(std::optional<std::uint32_t> pmu = {});

/// Why such a PMU must not be used; empty where it may. Pure.
std::string why_not_trusted(const KnownWork& work);

}  // namespace tally::linux
