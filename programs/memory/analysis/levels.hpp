// Finds the levels of a curve of latency against size: plateaus, and the rises between them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "programs/memory/analysis/geometry.hpp"
#include "programs/memory/analysis/shape.hpp"

namespace tally::memory {

/// One size of a curve.
struct CurvePoint {
  double size_bytes = 0;
  double ns = 0;                                ///< per load
  bool flagged = false;                         ///< disturbed by a busy machine: supports no plateau
  std::vector<std::vector<double>> mappings{};  ///< ns per load of the batches of each mapping; empty if unknown
  std::string why{};                            ///< why it is flagged, in a few words
  double quiet_share = 1;                       ///< share of the measured mappings that the point uses
  double rejected_share = 0;                    ///< share of their batches
  std::vector<double> counts{};                 ///< PMU counts per load; empty if nothing was counted
};

/// A curve, sizes ascending.
using Curve = std::vector<CurvePoint>;

/// A range of sizes with one latency.
struct Plateau {
  std::size_t first = 0;  ///< index of its first point
  std::size_t last = 0;
  double ns = 0;
  bool operator==(const Plateau&) const = default;
};

/// The middle size of a plateau, in log size; its ends may belong to the rises around it.
double middle_bytes(const Curve& curve, const Plateau& plateau);

/// The plateaus of a curve, in O(n²). Cuts log2 of the latencies into ranges of constant mean by optimal partitioning
/// (Jackson et al. 2005, β = 3σ²·ln n + 0.01), joins neighbours that differ by less than 10 %, and keeps ranges that
/// span ≥ 0.75 octave with max/min < 1.15, plus an allowance for the noise of the curve. Between two of them it also
/// keeps a range of an octave or more that rises by less than 0.3 (log2) per octave, single sizes aside, and is a
/// factor of 1.5 away from both: levels whose translations miss are never flat.
std::vector<Plateau> find_plateaus(const Curve& curve);

/// Where the curve leaves one plateau for the next.
struct Rise {
  double knee_bytes = 0;    ///< the last size at the latency of the plateau below
  double half_bytes = 0;    ///< half of the latency rise: linear in latency, interpolated in log size
  double below_bytes = 0;   ///< the last size below half-way
  double beyond_bytes = 0;  ///< the first size above half-way
};

/// Locates the rise between two neighbouring plateaus.
Rise find_rise(const Curve& curve, const Plateau& below, const Plateau& above);

/// Fits the shape of the rise between two plateaus.
Fit fit_rise(const Curve& curve, const Plateau& below, const Plateau& above, double page_bytes);

/// The capacity that a rise shows.
struct Capacity {
  double bytes = 0;
  double low_bytes = 0;  ///< 95 % interval
  double high_bytes = 0;
  Shape shape = Shape::step;
  double half_bytes = 0;
  double knee_bytes = 0;
  bool with_slopes = false;   ///< fitted together with the slopes around it
  bool scattered = false;     ///< measured by scattered rings
  double of_curve_bytes = 0;  ///< with `scattered`: the capacity from the curve itself
};

/// Shape and capacity of the level that ends between two plateaus. If the points have batches, the interval is a
/// bootstrap over mappings, then over batches (fixed seed), and never narrower than the grid. A rise of page colours is
/// fitted together with the slopes before and after it (fit_slopes).
Capacity find_capacity(const Curve& curve, const Plateau& below, const Plateau& above, double page_bytes,
                       const FirstTranslations& translations = {});

/// The same for a curve of scattered rings, whose lines are spread over several times as much memory: the number of
/// lines per set is random whatever the frames are, and rings of all sizes miss translations alike.
Capacity find_scattered_capacity(const Curve& curve, const Plateau& below, const Plateau& above);

/// New sizes between `low` and `high`: halves each gap between neighbours that is wider than the factor `ratio`. Sizes
/// are whole lines.
std::vector<std::uint64_t> sizes_between(const Curve& curve, double low, double high, double ratio,
                                         std::uint64_t line_bytes);

/// Sizes from `first` to `last`, `per_octave` to each doubling, in whole lines, ascending, `last` included.
std::vector<std::uint64_t> size_grid(std::uint64_t first, std::uint64_t last, int per_octave, std::uint64_t line_bytes);

}  // namespace tally::memory
