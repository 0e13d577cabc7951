// A roofline: what a program and its parts compute and move, and the ceilings of the machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tally/core/count/count.hpp"
#include "tally/output/result/ceilings.hpp"

namespace tally::result {

/// Bytes that a level of the memory delivers.
struct LevelBytes {
  std::string level;  ///< as in Ceiling::of
  std::int64_t bytes = 0;
  bool operator==(const LevelBytes&) const = default;
};

/// A program, or one of its functions.
struct RooflinePoint {
  std::string kind;  ///< "program", "function", "region"
  std::string name;
  Trust trust = Trust::exact;                           ///< of operations and requested bytes
  std::int64_t operations = 0;                          ///< floating-point
  std::int64_t single = 0;                              ///< of these in single precision
  std::int64_t scalar = 0;                              ///< of these by scalar instructions
  std::int64_t bytes = 0;                               ///< that instructions loaded and stored
  std::vector<LevelBytes> levels{};                     ///< after the first one: whole lines, by a model
  std::optional<double> seconds{};                      ///< native time; empty: `reason` says why
  std::optional<double> seconds_low{}, seconds_high{};  ///< 95 % interval of a sampled time
  std::string reason{};
  std::optional<double> kernel_share{};      ///< of the native processor time; of the program only
  std::optional<double> busy_processors{};   ///< as Roofline::busy_processors, of a region; empty: those of the program
  std::int64_t half = 0, bf16 = 0, x87 = 0;  ///< of the operations, as `single`
  bool operator==(const RooflinePoint&) const = default;
};

struct Roofline {
  Ceilings ceilings{};
  double busy_processors = 1;           ///< natively, in the mean: processor time / time
  std::string model{};                  ///< that divided the bytes among the levels
  std::vector<RooflinePoint> points{};  ///< the program first
  std::vector<std::string> notes{};     ///< what the points lack
  bool operator==(const Roofline&) const = default;
};

}  // namespace tally::result
