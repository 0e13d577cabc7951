// Linear least squares for systems with more rows than unknowns. Pure.
#pragma once

#include <cstddef>
#include <vector>

namespace tally::discover {

/// Rows of equal length.
using Matrix = std::vector<std::vector<double>>;

/// The x ≥ 0 that minimizes |A x − b| (Lawson and Hanson 1974, algorithm NNLS).
std::vector<double> nnls(const Matrix& a, const std::vector<double>& b);

/// The rank of A, and its condition number (largest by smallest singular value) after scaling each column to length 1.
/// Zero columns are ignored.
struct Independence {
  int rank = 0;
  double condition = 0;  ///< 0 if the rank is 0
};
Independence independence(const Matrix& a);

}  // namespace tally::discover
