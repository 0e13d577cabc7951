// Summarizes the timings of one point, and decides whether a busy machine disturbed them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tally::memory {

/// Causes of a disturbance that the user can act on: other programs took turns with the measuring thread; something ran
/// on the other thread of its core; one mapping is slower than another; memory served loads that a cache should serve.
inline constexpr std::string_view processor_shared = "the processor was shared";
inline constexpr std::string_view core_shared = "a neighbour in the core";
inline constexpr std::string_view mappings_differ = "mappings differ";
inline constexpr std::string_view cache_shared = "others fill the shared cache";
/// Limits for the share of loads from memory, in a ring that fits a cache. Above the first, memory changes the latency
/// by more than a tenth (a load takes some ten times as long as from a last level); above the second, the cache is not
/// available to this ring.
inline constexpr double little_from_memory = 0.01;
inline constexpr double too_much_from_memory = 0.03;
/// The processor counts as shared if the thread waited for it for more than this share of the time.
inline constexpr double waited_too_long = 1.0 / 3;

/// The batches of one mapping.
struct MappingSample {
  std::vector<double> ns;   ///< accepted batches
  bool whole_laps = false;  ///< each batch is a whole number of laps
  std::int64_t rejected = 0;
  double reference_ns = 0;      ///< of the L1 reference ring, measured around the walk
  double ghz = 0;               ///< core cycles per ns
  double reference_cycles = 0;  ///< of the L1 reference ring; 0: unknown
  /// PMU counts per step of each accepted batch; empty, as a whole or for a batch, if nothing was counted.
  std::vector<std::vector<double>> counts{};
  bool settled = false;  ///< as in Visit
  /// As in Visit; set if a cache is large enough and nothing else is known to have used it.
  std::optional<double> from_memory{};
};

/// The run that a mapping belongs to.
struct Surroundings {
  double best_reference_cycles = 0;  ///< 0: not checked
  /// The share of time that the thread waited for its processor. Above waited_too_long other threads' data fills the
  /// caches, and only settled mappings show what the machine does alone.
  double waited_share = 0;
};

/// What disturbed a mapping, in a few words; empty if nothing did. Causes: a shared processor (unless the mapping is
/// settled), more than a quarter of its batches rejected (three quarters if settled), a reference ring more than 4 %
/// slower in cycles than the best, or, for whole laps, a median above 1.25 times the fastest batch.
std::string disturbance_of(const MappingSample& mapping, const Surroundings& run);

/// The mappings of a point that count.
struct QuietMappings {
  std::vector<std::size_t> which;  ///< their indices, lowest latency first
  std::string why;                 ///< why they are too few, in a few words; empty if they suffice
  std::string detail;              ///< the same, with numbers
};

/// Chooses the mappings whose latency is reproduced: other programs make a load slower, never faster. Of the
/// undisturbed mappings, keeps those within 20 % of the fastest if these are at least three (or all, if fewer were
/// measured) and at least a third. On a calm machine that is every mapping. If some mappings had a shared cache to
/// themselves, those that had to go to memory count as disturbed; if none had it, the cache cannot be seen.
QuietMappings quiet_mappings(const std::vector<MappingSample>& mappings, const Surroundings& run);

/// The summary of a point.
struct PointSummary {
  double ns = 0;  ///< median over the mappings of the medians of their batches
  std::optional<double> ns_min;
  double ns_low = 0;  ///< 95 %: bootstrap over mappings, then over batches
  double ns_high = 0;
  double cycles = 0;
  /// For each counted event, the median over the same mappings of the medians of their batches; empty if nothing was
  /// counted.
  std::vector<double> counts;
  std::int64_t batches = 0;
  std::int64_t rejected = 0;
  std::optional<double> from_memory{};  ///< median of the mappings used
  std::vector<std::size_t> quiet;       ///< the mappings used; all of them if too few are quiet
  std::string why;                      ///< why it is contended, in a few words
  std::vector<std::string> flags;       ///< the same, with numbers
};

/// Summarizes a point from its quiet mappings. The batches of the others count as rejected.
PointSummary summarize_point(const std::vector<MappingSample>& mappings, const Surroundings& run = {});

/// A flag if the point exceeds both neighbours by a factor of more than 1.5; otherwise empty.
std::string neighbour_flag(double before_ns, double ns, double after_ns);

/// Whether a run is unusable: more than 10 % of its points are flagged, the reference ring moved by more than 10 % at
/// the median (`references`: of all points), or the thread waited for its processor too long.
struct RunVerdict {
  bool contended = false;
  double reference_moved_percent = 0;
  std::string why;
  std::string cause{};  ///< as CurvePoint::why, if the flags of the points do not show it
};
RunVerdict judge_run(std::size_t points, std::size_t flagged, const std::vector<double>& references,
                     double waited_share = 0);

}  // namespace tally::memory
