// The interface that runs payloads and counts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "programs/discovery/analysis/measurement_cells.hpp"
#include "tally/core/base/result.hpp"

namespace tally::discover {

/// An event to count, and its counter.
struct Slot {
  std::size_t event = 0;  ///< index in the list
  std::uint64_t code = 0;
  int counter = -1;  ///< −1: any
};

/// A way to count payloads.
class Target {
 public:
  virtual ~Target() = default;
  Target() = default;
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  /// Returns the number of counters that can be selected; 0 if they cannot.
  virtual int counters() const = 0;

  /// Returns how many events fit in one run.
  virtual std::size_t at_once() const = 0;

  /// Runs copies of a payload, given by its index in the target's list, and counts. Fills in the cells and the data
  /// that validates the run. A run is identified by stage, payload, size, repeat and batch: with the same seed it gives
  /// the same result, if the counts are reproducible at all. Errors: cannot_measure.
  virtual Result<void> run(std::uint64_t copies, const std::vector<Slot>& slots, Run& run) = 0;
};

}  // namespace tally::discover
