// Equations with more rows than unknowns. Pure.
#pragma once

#include <cstddef>
#include <vector>

namespace tally::discover {

/// Rows of equal length.
using Matrix = std::vector<std::vector<double>>;

/// The x ≥ 0 that makes |A x − b| least (Lawson and Hanson 1974, algorithm NNLS).
std::vector<double> nnls(const Matrix& a, const std::vector<double>& b);

/// How many columns of A are independent, and by what factor those stretch most and least: of A with columns of length
/// 1. Columns of zeroes do not count.
struct Independence {
  int rank = 0;
  double condition = 0;  ///< 0 where the rank is 0
};
Independence independence(const Matrix& a);

}  // namespace tally::discover
