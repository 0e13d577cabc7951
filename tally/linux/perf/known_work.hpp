// Checks that a PMU counts, and counts correctly, with a loop whose branches and instructions are known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tally/linux/perf/perf_event.hpp"

namespace tally::linux {

/// What a PMU counted in the loop.
struct KnownWork {
  const char* event = "";          ///< the event: "branches", or "instructions" if the PMU cannot count branches
  int os_errno = 0;                ///< why the counter did not open, or 0
  std::optional<PerfValue> value;  ///< the count
  std::uint64_t least = 0;         ///< minimum of a correct count
  std::uint64_t most = 0;          ///< maximum: includes the system calls that read the counter
  bool operator==(const KnownWork&) const = default;
};

/// Counts a loop of 500 branches in user mode, on the PMU of this type number (nothing: the only one). This detects a
/// virtual PMU that does not count, counts something else or has stopped (like rr's self-check). If the PMU cannot
/// count branches, as QEMU's for arm64, counts instructions. Cost: ten microseconds.
KnownWork count_known_work(std::optional<std::uint32_t> pmu = {});

/// Returns why such a PMU must not be used; empty if it may be. Pure.
std::string why_not_trusted(const KnownWork& work);

}  // namespace tally::linux
