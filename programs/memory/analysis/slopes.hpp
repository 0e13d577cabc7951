// Fits a rise between two latencies that both slope: translations miss before it, and other cores evict lines of the
// shared level after it.
#pragma once

#include <optional>
#include <span>

#include "programs/memory/analysis/geometry.hpp"

namespace tally::memory {

/// Whether the step between two plateaus is a slope: no two cache levels have latencies that close.
bool is_slope(double below_ns, double above_ns);

/// The time of a load in a ring of this size.
struct Timing {
  double size_bytes = 0;
  double ns = 0;
};

/// What is known about a rise.
struct RiseSurroundings {
  double below_ns = 0;       ///< of the plateau where it starts
  double page_bytes = 4096;  ///< size of a frame
  FirstTranslations translations{};
  bool contiguous = true;  ///< some frames may be contiguous
};

/// How a level deviates from random page colours with LRU: the share of contiguous frames, and the share of sets with
/// random replacement. Hosts give some of their guests' pages contiguous frames, a changing number. A level that
/// protects itself from long laps behaves between LRU and random.
struct Mixture {
  double contiguous = 0;
  double random = 0;
  bool operator==(const Mixture&) const = default;
};

/// A level of page colours whose rise is
/// t(R) = below + translation·max(0, 1 − reach/R) + m(R)·(miss + drain·R·t(R)),
/// where m is the share of misses at its capacity and mixture (misses_of), and no coefficient is negative. The first
/// term: the buffer holds reach/R of the pages of a ring in random order. The last: while a line waits R·t(R) for its
/// next lap, other users of the level evict it at a constant rate.
struct SlopingRise {
  double capacity_bytes = 0;
  double ways = 0;            ///< best fit; neighbours hardly differ
  double translation_ns = 0;  ///< added by a missed translation: as known, otherwise fitted
  double miss_ns = 0;         ///< added by a miss in the smallest ring
  double drain = 0;           ///< per byte and ns of a lap
  Mixture mixture;
  double error = 0;        ///< mean absolute difference, relative to the geometric mean of the first and last timing
  double least_bytes = 0;  ///< lowest capacity, including mixtures that fit better, but not clearly so
  double most_bytes = 0;
  bool operator==(const SlopingRise&) const = default;
};

/// Fits the rise to the timings. Minimizes absolute differences of t, so that a few disturbed timings do not move it,
/// over all capacities between the timings, usual ways and mixtures (none, half and all of either share), or only
/// `mixture` if given. Empty if there are too few timings, none rises, or the best capacity is the first or last. Takes
/// some 16 ms for 60 timings, a third of that with `mixture`.
std::optional<SlopingRise> fit_slopes(std::span<const Timing> timings, const RiseSurroundings& around,
                                      std::optional<Mixture> mixture = {});

/// Misses per access of a ring of this size, in a level of this capacity and these ways.
double misses_of(const Mixture& mixture, double size_bytes, double capacity_bytes, double ways, double page_bytes);

}  // namespace tally::memory
