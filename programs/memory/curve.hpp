// Measures latency against size: one point at a time, in random order, over fresh mappings.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "programs/memory/analysis/held.hpp"
#include "programs/memory/analysis/levels.hpp"
#include "programs/memory/analysis/points.hpp"
#include "programs/memory/runner.hpp"
#include "tally/output/result/memory_result.hpp"

namespace tally::memory {

/// The timings of a curve, by size.
class CurveRun {
 public:
  /// `pool_bytes`: the lines of each ring are spread over this much memory, and the points belong to the task
  /// "scattered". 0: a ring consists of all lines of a region.
  explicit CurveRun(Runner& runner, std::uint64_t pool_bytes = 0);

  /// Measures each size in `mappings` mappings, in random order. Stops early after `seconds`, or when
  /// Runner::must_stop(). `from` and `to` are the task's progress before and after. Errors: cannot_measure.
  Result<void> measure(const std::vector<std::uint64_t>& sizes, int mappings, double from, double to,
                       double seconds = std::numeric_limits<double>::infinity());

  /// Measures flagged points again, and points up to 16 MiB if memory served loads that a shared cache should serve.
  /// Each round adds one mapping per point; rounds end when no point is flagged, when each has three times the planned
  /// mappings, or after `seconds`. Mappings that were quiet before are kept.
  Result<void> again(double from, double to, double seconds);

  /// All points, with their flags.
  Curve curve() const;
  std::vector<result::MemoryPoint> rows() const;
  RunVerdict verdict() const;
  std::size_t flagged() const;
  /// For each size that only the shared last level can hold: the share of its loads that memory served, as the median
  /// of the quiet mappings. Mappings that other programs of this machine disturbed are left out. Empty if unknown.
  std::vector<HeldSize> held_sizes() const;
  std::int64_t batches() const;
  std::int64_t rejected() const;
  double ghz() const;
  /// The share of time that the thread waited for its processor, up to the last point. Fixed then, so that all
  /// conclusions use the same value.
  double waited_share() const { return waited_share_; }
  /// The kind of pages of the smallest size's last mapping, such as "thp".
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
