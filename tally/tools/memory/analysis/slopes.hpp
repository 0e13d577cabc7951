// A rise between two latencies neither of which stands still: translations are missed before it, neighbours take lines
// of the shared level after it.
#pragma once

#include <optional>
#include <span>

#include "tally/tools/memory/analysis/geometry.hpp"

namespace tally::memory {

/// Whether from one plateau to the next there is a slope rather than the end of a cache: no two are so close in
/// latency.
bool is_slope(double below_ns, double above_ns);

/// What a load of a ring of this size took.
struct Timing {
  double size_bytes = 0;
  double ns = 0;
};

/// What is known around a rise.
struct RiseSurroundings {
  double below_ns = 0;       ///< of the plateau that it starts from
  double page_bytes = 4096;  ///< of the frames
  FirstTranslations translations{};
  bool contiguous = true;  ///< frames may be
};

/// What is mixed with frames of random colours and lines that go by when they were used last: the share of contiguous
/// frames, and that of sets in which any line may have to go. Hosts give some of their guests' pages contiguous frames,
/// now more and now fewer; and what lines go by in a level that protects itself from long laps lies between the two.
struct Mixture {
  double contiguous = 0;
  double random = 0;
  bool operator==(const Mixture&) const = default;
};

/// A level of page colours whose rise is
///   t(R) = below + translation·max(0, 1 − reach/R) + m(R)·(miss + drain·R·t(R)),
///   m = the misses of its capacity by the shares of a mixture, see misses_of,
/// none of the three being negative.
/// The first term: the buffer holds reach/R of the pages of a ring in random order. The last: lines that wait for their
/// next lap, R·t(R) long, in a level that others use are taken at a constant rate.
struct SlopingRise {
  double capacity_bytes = 0;
  double ways = 0;            ///< those that fit best; neighbours hardly differ
  double translation_ns = 0;  ///< what a missed translation adds: as known, else fitted
  double miss_ns = 0;         ///< what a miss adds in the smallest ring
  double drain = 0;           ///< ns per byte and ns of a lap
  Mixture mixture;
  double error = 0;        ///< mean absolute difference, relative to the middle of the first and last timing
  double least_bytes = 0;  ///< of it and of capacities by mixtures that explain the timings better, but not clearly so
  double most_bytes = 0;
  bool operator==(const SlopingRise&) const = default;
};

/// The rise that fits timings best: least absolute differences of t, which a few disturbed timings do not move, over
/// all capacities between them, usual ways and mixtures (none, a half and all of either), or that mixture where it is
/// given. Nothing where they are too few, none rises, or the best capacity is the first or last. Cost: some 16 ms
/// for 60 timings, a third with the mixture given.
std::optional<SlopingRise> fit_slopes(std::span<const Timing> timings, const RiseSurroundings& around,
                                      std::optional<Mixture> mixture = {});

/// Misses per access of a ring of this size, in a level of this capacity and these ways.
double misses_of(const Mixture& mixture, double size_bytes, double capacity_bytes, double ways, double page_bytes);

}  // namespace tally::memory
