// Models of how the misses of one level rise with the size of a ring that is walked lap after lap.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace tally::memory {

/// The shape of a rise between two plateaus.
enum class Shape {
  step,                ///< LRU, contiguous frames: everything misses as soon as the ring is larger
  random_replacement,  ///< evicts any line of a full level
  page_colours,        ///< LRU, sets chosen by physical pages at random addresses
  next_line,           ///< LRU, and each miss also fetches the next line
  line_pair,           ///< LRU, and each miss also fetches the other line of a pair
};

/// Its name in reports.
std::string_view name(Shape shape);

/// Misses per access of a level with random replacement, x = ring size / capacity: the root of 1 − m = e^(−x·m), and 0
/// up to x = 1.
double misses_random(double x);

/// Misses per access of a physically indexed LRU level with `ways` ways and `colours` page colours, for a ring of
/// `pages` pages in random frames: a page misses if at least `ways` other pages have its colour.
double misses_colours(double pages, double colours, double ways);

/// The same with random replacement within a set; `ways` is a whole number. In a set with k lines, the share of loads
/// that miss is the root of 1 − m = (1 − 1/ways)^(m·(k − 1)).
double misses_colours_random(double pages, double colours, double ways);

/// The same with LRU and contiguous frames, x = ring size / capacity: sets differ by at most one line, and all lines of
/// a set with more lines than ways miss. Rises from 0 at x = 1 to 1 at 1 + 1/ways.
double misses_contiguous(double x, double ways);

/// Common numbers of ways. The curves of neighbours in this list hardly differ.
inline constexpr std::array usual_ways{4.0, 8.0, 12.0, 16.0, 20.0};

/// A ring size and the share of the rise seen there (0: the plateau below, 1: the one above).
struct Share {
  double size_bytes = 0;
  double missed = 0;
};

/// Whether each miss fetches a second line, so that half of the rise is a step.
bool brings_neighbours(Shape shape);

/// The best fit to the shares of one rise.
struct Fit {
  Shape shape = Shape::step;
  double capacity_bytes = 0;
  double error = 0;  ///< root of the mean squared difference
  double ways = 1;   ///< best fit for page_colours; neighbours hardly differ
};

/// Fits each shape to a rise and returns the best; a shape other than a step must explain the shares clearly better.
/// Sizes ascend; there are at least two. `page_bytes`: the size of the frames.
Fit fit_shape(std::span<const Share> shares, double page_bytes);

/// Fits only this shape.
Fit fit_one_shape(Shape shape, std::span<const Share> shares, double page_bytes);

/// Fits the same shape and ways to other shares.
Fit fit_again(const Fit& fit, std::span<const Share> shares, double page_bytes);

/// Misses per access of an LRU level in which each miss also fetches the next line, x as above: 0 up to x = 1, then 1 −
/// 1/(2x). A line hits if a miss of another line fetched it within the last D accesses: m = 1/(1 + D/R), and D accesses
/// fill the level: D + m·D·(1 − D/R) = C.
double misses_next_line(double x);

/// The same if a miss fetches the other line of a pair. Each lap has one miss per pair, or two if neither line follows
/// the other within D: m = max(1/2, 1 − D/R).
double misses_line_pair(double x);

}  // namespace tally::memory
