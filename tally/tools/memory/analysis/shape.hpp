// How the misses of one level rise with the size of a ring that is walked lap after lap.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace tally::memory {

/// What a rise between two plateaus looks like.
enum class Shape {
  step,                ///< least recently used, contiguous frames: all misses as soon as the ring is larger
  random_replacement,  ///< any line of a full level may have to go
  page_colours,        ///< least recently used, sets chosen by physical pages in random places
  next_line,           ///< least recently used, and each miss brings the line after it as well
  line_pair,           ///< the same with the other line of a pair
};

/// Its name in reports.
std::string_view name(Shape shape);

/// Misses per access of a level with random replacement, x = size of the ring / capacity: the root of
/// 1 − m = e^(−x·m), 0 up to x = 1.
double misses_random(double x);

/// The same of a physically indexed level of `ways` ways and `colours` page colours, least recently used, in which a
/// ring of `pages` pages has random frames: a page misses where as many others as there are ways, or more, have its
/// colour.
double misses_colours(double pages, double colours, double ways);

/// The same where any line of a full set may have to go, whatever was used last. `ways` is a whole number.
/// A set with k lines misses m of their loads: the root of 1 − m = (1 − 1/ways)^(m·(k − 1)).
double misses_colours_random(double pages, double colours, double ways);

/// The same with contiguous frames, least recently used, x = size of the ring / capacity: every set has as many lines
/// as the others, or one more; those of a set with more lines than ways all miss. From 0 at x = 1 to 1 at 1 + 1/ways.
double misses_contiguous(double x, double ways);

/// Ways that caches come with. The curves of neighbours in this list hardly differ.
inline constexpr std::array usual_ways{4.0, 8.0, 12.0, 16.0, 20.0};

/// A size of the ring and the share of the rise that was seen there (0: the plateau below, 1: the one above).
struct Share {
  double size_bytes = 0;
  double missed = 0;
};

/// Whether it is one of those in which a miss brings a second line: half of the rise is a step then.
bool brings_neighbours(Shape shape);

/// What fits the shares of one rise best.
struct Fit {
  Shape shape = Shape::step;
  double capacity_bytes = 0;
  double error = 0;  ///< root of the mean squared difference
  double ways = 1;   ///< of page_colours: those that fit best; neighbours hardly differ
};

/// Fits each shape to a rise and takes the best; another shape than a step must explain the shares clearly better.
/// Sizes ascend; there are at least two. `page_bytes`: the page that frames have.
Fit fit_shape(std::span<const Share> shares, double page_bytes);

/// The best fit of this shape alone.
Fit fit_one_shape(Shape shape, std::span<const Share> shares, double page_bytes);

/// The same shape, and ways, fitted to other shares.
Fit fit_again(const Fit& fit, std::span<const Share> shares, double page_bytes);

/// The same of a level, least recently used, in which each miss brings a second line, x as above: 0 up to x = 1, then
/// 1 − 1/(2x) where that is the line after it. A line hits that was brought within the last D accesses by another one
/// that missed: m = 1/(1 + D/R); and D accesses fill the level: D + m·D·(1 − D/R) = C.
double misses_next_line(double x);

/// Where it is the other one of a pair. Then one of both misses in each lap, and both where neither follows the other
/// within D: m = max(1/2, 1 − D/R).
double misses_line_pair(double x);

/// Misses per access of a level with entries of `entry` bytes that a ring of `block`-byte blocks is read through once,
/// least recently used: 1 − (1 − block/entry)·min(1, capacity/region).
double misses_cold(double block, double entry, double capacity, double region);

}  // namespace tally::memory
