// The levels that a curve of latency against size has: plateaus, and the rises between them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tally/tools/memory/analysis/geometry.hpp"
#include "tally/tools/memory/analysis/shape.hpp"

namespace tally::memory {

/// One size of a curve.
struct CurvePoint {
  double size_bytes = 0;
  double ns = 0;                                ///< per load
  bool flagged = false;                         ///< a busy machine made it: it supports no plateau
  std::vector<std::vector<double>> mappings{};  ///< ns per load of the batches of each mapping; empty where unknown
  std::string why{};                            ///< it is flagged, in a few words
  double quiet_share = 1;                       ///< of the mappings that were measured: those that it rests on
  double rejected_share = 0;                    ///< of the batches of those
  std::vector<double> counts{};                 ///< of a PMU, per load; empty where nothing was counted
};

/// A curve, sizes ascending.
using Curve = std::vector<CurvePoint>;

/// A stretch of sizes with one latency.
struct Plateau {
  std::size_t first = 0;  ///< its points, both included
  std::size_t last = 0;
  double ns = 0;
  bool operator==(const Plateau&) const = default;
};

/// The size in the middle of a plateau, on the scale of sizes: its ends may belong to the rises beside it.
double middle_bytes(const Curve& curve, const Plateau& plateau);

/// The plateaus of a curve: log2 of the latencies is cut into pieces of one mean by optimal partitioning (Jackson et
/// al. 2005, β = 3σ²·ln n + 0.01), neighbours that differ by less than 10 % are joined, and pieces count that span
/// ≥ 0.75 octave with max/min < 1.15, and as much more as the noise of the curve makes of it. Between two of
/// them a stretch of an octave and more counts that rises by less than 0.3 (log2) an octave, single sizes aside, and
/// is 1.5 times away from both: no level is flat whose translations are missed. O(n²).
std::vector<Plateau> find_plateaus(const Curve& curve);

/// Where the curve leaves one plateau for the next.
struct Rise {
  double knee_bytes = 0;    ///< the last size that is at the latency of the plateau below
  double half_bytes = 0;    ///< where the latency is half-way, linear in latency, interpolated in log size
  double below_bytes = 0;   ///< the last size that is less than half-way
  double beyond_bytes = 0;  ///< the first that is more
};

/// The rise between two neighbouring plateaus.
Rise find_rise(const Curve& curve, const Plateau& below, const Plateau& above);

/// The shape that fits the rise between two plateaus best.
Fit fit_rise(const Curve& curve, const Plateau& below, const Plateau& above, double page_bytes);

/// A capacity that follows from a rise.
struct Capacity {
  double bytes = 0;
  double low_bytes = 0;  ///< 95 % interval
  double high_bytes = 0;
  Shape shape = Shape::step;
  double half_bytes = 0;
  double knee_bytes = 0;
  bool with_slopes = false;   ///< fitted together with what slopes beside it
  bool scattered = false;     ///< of rings whose lines lie anywhere
  double of_curve_bytes = 0;  ///< where it is: what the curve itself gives
};

/// Shape and capacity of the level that ends between two plateaus. Where the points have batches, the interval is a
/// bootstrap over mappings and then over batches (fixed seed), and never narrower than the grid. A rise of page colours
/// is fitted together with what slopes before and after it (fit_slopes).
Capacity find_capacity(const Curve& curve, const Plateau& below, const Plateau& above, double page_bytes,
                       const FirstTranslations& translations = {});

/// The same of a curve whose rings' lines lie anywhere in memory that is several times as large: each set has as many
/// of them as chance gives it, whatever frames there are, and translations are missed alike in all rings.
Capacity find_scattered_capacity(const Curve& curve, const Plateau& below, const Plateau& above);

/// The size between two others where the next point is worth most: every gap wider than a factor `ratio` on the way
/// from `low` to `high` is halved. Sizes are whole lines.
std::vector<std::uint64_t> sizes_between(const Curve& curve, double low, double high, double ratio,
                                         std::uint64_t line_bytes);

/// Sizes from `first` to `last`, `per_octave` to each doubling, in whole lines, ascending, `last` included.
std::vector<std::uint64_t> size_grid(std::uint64_t first, std::uint64_t last, int per_octave, std::uint64_t line_bytes);

}  // namespace tally::memory
