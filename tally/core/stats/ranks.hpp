// Tests whether two series differ, without assuming a distribution, and corrects for the number of tests.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace tally::stats {

/// The probability that two series of one distribution differ in rank at least this much: the two-sided Mann–Whitney U
/// test (Mann and Whitney 1947). Exact for series of at most 20 values, ties included; otherwise the normal
/// approximation with corrections for ties and continuity. 1 if a series is empty or all values are equal. Cost: a
/// sort; exact O(n² (n + m)²).
double mann_whitney(const std::vector<double>& a, const std::vector<double>& b);

/// An interval of a difference.
struct Shift {
  double low = 0, high = 0;
};

/// The 99 % interval of by how much the values of `b` are above those of `a`: the differences that mann_whitney() does
/// not reject at 1 % (Hodges and Lehmann 1963). Nothing if the series are too short for one. Cost: O(n m).
std::optional<Shift> shift_interval(const std::vector<double>& a, const std::vector<double>& b);

/// The same for any quantity of pairs of a value of `a` and a value of `b` that decreases with the first and increases
/// with the second: `pairs` has it for all n m pairs, and is sorted. Nothing if the series are too short.
std::optional<Shift> interval_of_pairs(std::vector<double>& pairs, std::size_t n, std::size_t m);

/// Adjusts probabilities for the number of tests, so that rejecting those below q finds at most a share q of false
/// differences (Benjamini and Hochberg 1995). Keeps the order.
std::vector<double> benjamini_hochberg(const std::vector<double>& probabilities);

}  // namespace tally::stats
