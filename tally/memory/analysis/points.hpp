// What the timings of one point say, and whether a busy machine made them.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tally::memory {

/// The batches of one mapping.
struct MappingSample {
  std::vector<double> ns;   ///< accepted batches
  bool whole_laps = false;  ///< each is a whole number of laps
  std::int64_t rejected = 0;
  double reference_ns = 0;  ///< of the L1 reference ring beside it
  double ghz = 0;           ///< core cycles per ns
};

/// A point in short.
struct PointSummary {
  double ns = 0;  ///< median over the mappings of the medians of their batches
  std::optional<double> ns_min;
  double ns_low = 0;  ///< 95 %: bootstrap over mappings, then over batches
  double ns_high = 0;
  double cycles = 0;
  std::int64_t batches = 0;
  std::int64_t rejected = 0;
  double reference_ns = 0;         ///< the slowest of its mappings
  std::vector<std::string> flags;  ///< why it is contended, by itself
};

/// The mappings of one point in short. Mappings without an accepted batch count as rejected alone.
PointSummary summarize_point(const std::vector<MappingSample>& mappings);

/// The flag of a point whose reference ring was more than 5 % slower than the best of the run; empty for others.
std::string reference_flag(const PointSummary& point, double best_reference_ns);

/// The flag of a point that exceeds both neighbours by more than 1.5; empty for others.
std::string neighbour_flag(double before_ns, double ns, double after_ns);

/// Whether a run says nothing: more than 10 % of its points flagged, or the reference ring moved by more than 10 % in
/// the middle of its points (`references`: of all points).
struct RunVerdict {
  bool contended = false;
  double reference_moved_percent = 0;
  std::string why;
};
RunVerdict judge_run(std::size_t points, std::size_t flagged, const std::vector<double>& references);

}  // namespace tally::memory
