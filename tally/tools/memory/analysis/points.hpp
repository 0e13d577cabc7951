// What the timings of one point say, and whether a busy machine made them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tally::memory {

/// Causes of a disturbance about which there is something to do: other programs took turns with the measuring thread;
/// or something else ran on the other thread of its core; or one mapping is slower than another; or memory served a
/// part of the loads that a cache should.
inline constexpr std::string_view processor_shared = "the processor was shared";
inline constexpr std::string_view core_shared = "a neighbour in the core";
inline constexpr std::string_view mappings_differ = "mappings differ";
inline constexpr std::string_view cache_shared = "others fill the shared cache";
/// Of the loads of a ring that fits a cache: above the first share memory changes their latency by more than a tenth
/// (it takes some ten times as long as a last level), above the second one the cache is not there for this ring.
inline constexpr double little_from_memory = 0.01;
inline constexpr double too_much_from_memory = 0.03;
/// The processor is shared from this share of the time on in which the thread waited for it.
inline constexpr double waited_too_long = 1.0 / 3;

/// The batches of one mapping.
struct MappingSample {
  std::vector<double> ns;   ///< accepted batches
  bool whole_laps = false;  ///< each is a whole number of laps
  std::int64_t rejected = 0;
  double reference_ns = 0;      ///< of the L1 reference ring beside it
  double ghz = 0;               ///< core cycles per ns
  double reference_cycles = 0;  ///< of the L1 reference ring; 0: not known
  /// What a PMU counted in each accepted batch, per step; empty, as a whole or of a batch, where nothing was.
  std::vector<std::vector<double>> counts{};
  bool settled = false;  ///< as Visit::settled
  /// As Visit::from_memory, where a cache is large enough and nothing else is known to have been in it.
  std::optional<double> from_memory{};
};

/// The run around a mapping.
struct Surroundings {
  double best_reference_cycles = 0;  ///< 0: not looked at
  /// Of the time, for the processor. Above waited_too_long a thread finds caches that others have filled: what is left
  /// of its batches is what the machine does alone only in settled mappings.
  double waited_share = 0;
};

/// What disturbed the timing of a mapping, in a few words: others had the processor before its batches, more than a
/// quarter of these rejected (of a settled one three quarters), a reference ring more than 4 % slower in cycles than
/// the best, or a median more than 1.25 times its own fastest laps. Empty where nothing did.
std::string disturbance_of(const MappingSample& mapping, const Surroundings& run);

/// The mappings of a point that count.
struct QuietMappings {
  std::vector<std::size_t> which;  ///< their places, those with the least latency first
  std::string why;                 ///< in a few words, why they are too few to be believed; empty where they are enough
  std::string detail;              ///< the same with its numbers
};

/// What somebody else does on the machine makes a load slower, never faster. So a latency counts that was found again:
/// of the mappings that nothing disturbed those within 20 % of the least one, where these are three (or all, where
/// fewer were measured) and at least a third. Of a machine that is calm that is every mapping. Where some mappings had
/// a shared cache for themselves, those that had to go to memory count as disturbed; where none had it, nobody knows
/// that it is there.
QuietMappings quiet_mappings(const std::vector<MappingSample>& mappings, const Surroundings& run);

/// A point in short.
struct PointSummary {
  double ns = 0;  ///< median over the mappings of the medians of their batches
  std::optional<double> ns_min;
  double ns_low = 0;  ///< 95 %: bootstrap over mappings, then over batches
  double ns_high = 0;
  double cycles = 0;
  /// Of each event that was counted, the median over the same mappings of the medians of their batches; empty: none
  /// was.
  std::vector<double> counts;
  std::int64_t batches = 0;
  std::int64_t rejected = 0;
  std::optional<double> from_memory{};  ///< median of the mappings that it rests on
  std::vector<std::size_t> quiet;       ///< the mappings that it rests on; all of them where too few are quiet
  std::string why;                      ///< it is contended, in a few words
  std::vector<std::string> flags;       ///< the same, with its numbers
};

/// The mappings of one point in short, by those that are quiet. The batches of the others count as rejected.
PointSummary summarize_point(const std::vector<MappingSample>& mappings, const Surroundings& run = {});

/// The flag of a point that exceeds both neighbours by more than 1.5; empty for others.
std::string neighbour_flag(double before_ns, double ns, double after_ns);

/// Whether a run says nothing: more than 10 % of its points flagged, the reference ring moved by more than 10 % in
/// the middle of its points (`references`: of all points), or its thread waited for its processor for too long.
struct RunVerdict {
  bool contended = false;
  double reference_moved_percent = 0;
  std::string why;
  std::string cause{};  ///< as CurvePoint::why has them, where the flags of its points do not tell it
};
RunVerdict judge_run(std::size_t points, std::size_t flagged, const std::vector<double>& references,
                     double waited_share = 0);

}  // namespace tally::memory
