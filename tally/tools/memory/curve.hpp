// Latency against size: measuring a curve point by point, in random order, over fresh mappings.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "tally/output/result/memory.hpp"
#include "tally/tools/memory/analysis/held.hpp"
#include "tally/tools/memory/analysis/levels.hpp"
#include "tally/tools/memory/analysis/points.hpp"
#include "tally/tools/memory/runner.hpp"

namespace tally::memory {

/// The timings of a curve, by size.
class CurveRun {
 public:
  /// `pool_bytes`: the lines of each ring lie anywhere in so much memory, and are its points' task "scattered"; 0: they
  /// are all lines of a region.
  explicit CurveRun(Runner& runner, std::uint64_t pool_bytes = 0);

  /// Measures these sizes, `mappings` times each, in random order. Stops early where the runner must, and after
  /// `seconds`. `from` and `to` are where the task's progress stands before and after. Errors: cannot_measure.
  Result<void> measure(const std::vector<std::uint64_t>& sizes, int mappings, double from, double to,
                       double seconds = std::numeric_limits<double>::infinity());

  /// Measures flagged points, and those up to 16 M whose loads memory served for a shared cache, in more mappings, one
  /// each and round after round, until none is flagged, each has three times as many as the plan says, or the time is
  /// over. What was quiet before stays.
  Result<void> again(double from, double to, double seconds);

  /// All points, with their flags.
  Curve curve() const;
  std::vector<result::MemoryPoint> rows() const;
  RunVerdict verdict() const;
  std::size_t flagged() const;
  /// Of the sizes that a shared last level alone holds, how many of their loads came from memory: the median of the
  /// mappings that count. Without those that this machine's own programs disturbed. Empty where that is not known.
  std::vector<HeldSize> held_sizes() const;
  std::int64_t batches() const;
  std::int64_t rejected() const;
  double ghz() const;
  /// Of the time until the last point was measured, for the processor: what is concluded goes by one number.
  double waited_share() const { return waited_share_; }
  /// "thp", or what most mappings got.
  std::string pages_got() const;

 private:
  struct Samples {
    std::vector<MappingSample> mappings;
    std::string pages_got;
  };
  /// The summary of each size, with every flag.
  std::map<std::uint64_t, PointSummary> summaries() const;

  Runner* runner_;
  HeldRange shared_;
  std::uint64_t pool_bytes_;
  double waited_share_ = 0;
  std::map<std::uint64_t, Samples> samples_;
};

}  // namespace tally::memory
