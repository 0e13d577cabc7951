// The steps of a series of exact counts, and the patterns that they form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tally::results {

/// Several steps that belong together.
enum class Pattern : std::uint8_t {
  spike,        ///< one value that the series leaves again, by more than half: back to or near the value before
  alternation,  ///< at least three steps back and forth between the same two values
  creep,        ///< at least three steps in one direction, none of them more than half of the whole
};
/// "spike", "alternation", "creep".
std::string_view name(Pattern pattern);

/// A pattern in a series.
struct SeriesPattern {
  Pattern pattern = Pattern::spike;
  std::size_t first = 0, last = 0;  ///< indexes of the values at the first step and at the last one; of a spike equal
  std::size_t steps = 0;            ///< of a spike 2
  std::int64_t before = 0, after = 0;  ///< the value before the first step; of a creep the last one, else the other one
};

/// The indexes of all values that differ from the one before. An exact count has no noise, so each is a change.
std::vector<std::size_t> steps_of(std::span<const std::int64_t> values);

/// The patterns of a series, by their first steps. Values that stay equal for a while are one level. Creeps continue
/// across spikes. Cost: linear, times log n for creeps.
std::vector<SeriesPattern> patterns_of(std::span<const std::int64_t> values);

}  // namespace tally::results
