// Who executes payloads and counts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/tools/discover/analysis/record.hpp"

namespace tally::discover {

/// An event that is to be counted, and where.
struct Slot {
  std::size_t event = 0;  ///< its place in the list
  std::uint64_t code = 0;
  int counter = -1;  ///< −1: anywhere
};

/// A way to count payloads.
class Target {
 public:
  virtual ~Target() = default;
  Target() = default;
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  /// Counters that can be chosen; 0 where they cannot.
  virtual int counters() const = 0;

  /// How many events it counts in one run.
  virtual std::size_t at_once() const = 0;

  /// Executes copies of a payload, by its place in the list that the target was made with, and counts; fills in what
  /// guards the run, and its cells. The same run (its stage, payload, size, repeat, batch) of the same seed is the
  /// same, where the counts repeat at all. Errors: cannot_measure.
  virtual Result<void> run(std::uint64_t copies, const std::vector<Slot>& slots, Run& run) = 0;
};

}  // namespace tally::discover
