// Branches with known behaviour, for the tests of all predictors.
#pragma once

#include <cstdint>
#include <string_view>

namespace tally::models::testing {

/// Returns the mispredictions of one branch that repeats `pattern` ('T' taken, 'N' not taken) `rounds` times, counted
/// after the first `warm` rounds.
template <class Predictor>
std::uint64_t wrong(Predictor& predictor, std::string_view pattern, int rounds, int warm) {
  std::uint64_t count = 0;
  for (int round = 0; round < rounds; ++round) {
    for (const char outcome : pattern) {
      const bool right = predictor.predict(0x401234, outcome == 'T');
      if (round >= warm) {
        count += !right;
      }
    }
  }
  return count;
}

}  // namespace tally::models::testing
