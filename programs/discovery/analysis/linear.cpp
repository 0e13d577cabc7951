#include "programs/discovery/analysis/linear.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tally::discover {
namespace {

std::size_t columns_of(const Matrix& a) { return a.empty() ? 0 : a.front().size(); }

// Solves the normal equations of some columns by elimination with pivoting; a dependent column gets 0.
std::vector<double> least_squares(const Matrix& a, const std::vector<double>& b, const std::vector<std::size_t>& of) {
  const std::size_t n = of.size();
  Matrix m(n, std::vector<double>(n + 1, 0));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t row = 0; row < a.size(); ++row) {
      for (std::size_t j = 0; j < n; ++j) m[i][j] += a[row][of[i]] * a[row][of[j]];
      m[i][n] += a[row][of[i]] * b[row];
    }
  }
  std::vector<double> x(n, 0);
  std::vector<std::size_t> pivots(n, n);
  std::size_t at = 0;
  for (std::size_t column = 0; column < n && at < n; ++column) {
    std::size_t best = at;
    for (std::size_t row = at; row < n; ++row) {
      if (std::abs(m[row][column]) > std::abs(m[best][column])) best = row;
    }
    if (std::abs(m[best][column]) < 1e-10) continue;
    std::swap(m[at], m[best]);
    for (std::size_t row = 0; row < n; ++row) {
      if (row == at || m[row][column] == 0) continue;
      const double factor = m[row][column] / m[at][column];
      for (std::size_t k = column; k <= n; ++k) m[row][k] -= factor * m[at][k];
    }
    pivots[column] = at++;
  }
  for (std::size_t column = 0; column < n; ++column) {
    if (pivots[column] < n) x[column] = m[pivots[column]][n] / m[pivots[column]][column];
  }
  return x;
}

// The eigenvalues of a symmetric matrix, by Jacobi rotations.
std::vector<double> eigenvalues(Matrix m) {
  const std::size_t n = m.size();
  for (int sweep = 0; sweep < 60; ++sweep) {
    double off = 0;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = i + 1; j < n; ++j) off += m[i][j] * m[i][j];
    }
    if (off < 1e-24) break;
    for (std::size_t p = 0; p < n; ++p) {
      for (std::size_t q = p + 1; q < n; ++q) {
        if (std::abs(m[p][q]) < 1e-18) continue;
        const double theta = (m[q][q] - m[p][p]) / (2 * m[p][q]);
        const double t = (theta >= 0 ? 1 : -1) / (std::abs(theta) + std::sqrt(theta * theta + 1));
        const double c = 1 / std::sqrt(t * t + 1), s = t * c;
        for (std::size_t k = 0; k < n; ++k) {
          const double kp = m[k][p], kq = m[k][q];
          m[k][p] = c * kp - s * kq;
          m[k][q] = s * kp + c * kq;
        }
        for (std::size_t k = 0; k < n; ++k) {
          const double pk = m[p][k], qk = m[q][k];
          m[p][k] = c * pk - s * qk;
          m[q][k] = s * pk + c * qk;
        }
      }
    }
  }
  std::vector<double> values;
  for (std::size_t i = 0; i < n; ++i) values.push_back(m[i][i]);
  return values;
}

}  // namespace

std::vector<double> nnls(const Matrix& a, const std::vector<double>& b) {
  const std::size_t n = columns_of(a);
  std::vector<double> x(n, 0);
  std::vector<bool> passive(n, false);
  for (std::size_t step = 0; step < 3 * n + 10; ++step) {
    std::vector<double> left = b;
    for (std::size_t row = 0; row < a.size(); ++row) {
      for (std::size_t j = 0; j < n; ++j) left[row] -= a[row][j] * x[j];
    }
    std::size_t best = n;
    double most = 1e-9;
    for (std::size_t j = 0; j < n; ++j) {
      if (passive[j]) continue;
      double gradient = 0;
      for (std::size_t row = 0; row < a.size(); ++row) gradient += a[row][j] * left[row];
      if (gradient > most) {
        most = gradient;
        best = j;
      }
    }
    if (best == n) break;
    passive[best] = true;
    for (;;) {
      std::vector<std::size_t> of;
      for (std::size_t j = 0; j < n; ++j) {
        if (passive[j]) of.push_back(j);
      }
      const std::vector<double> z = least_squares(a, b, of);
      double share = 1;
      for (std::size_t i = 0; i < of.size(); ++i) {
        if (z[i] <= 0) share = std::min(share, x[of[i]] / (x[of[i]] - z[i] + 1e-300));
      }
      for (std::size_t i = 0; i < of.size(); ++i) x[of[i]] += share * (z[i] - x[of[i]]);
      if (share >= 1) break;
      for (const std::size_t j : of) {
        if (x[j] > 1e-12) continue;
        x[j] = 0;
        passive[j] = false;
      }
    }
  }
  return x;
}

Independence independence(const Matrix& a) {
  const std::size_t n = columns_of(a);
  std::vector<double> lengths(n, 0);
  for (const auto& row : a) {
    for (std::size_t j = 0; j < n; ++j) lengths[j] += row[j] * row[j];
  }
  std::vector<std::size_t> used;
  for (std::size_t j = 0; j < n; ++j) {
    if (lengths[j] > 0) used.push_back(j);
  }
  Matrix gram(used.size(), std::vector<double>(used.size(), 0));
  for (std::size_t i = 0; i < used.size(); ++i) {
    for (std::size_t j = 0; j < used.size(); ++j) {
      for (const auto& row : a) gram[i][j] += row[used[i]] * row[used[j]];
      gram[i][j] /= std::sqrt(lengths[used[i]] * lengths[used[j]]);
    }
  }
  Independence answer;
  double most = 0, least = 0;
  for (const double value : eigenvalues(std::move(gram))) {
    if (value < 1e-9) continue;
    ++answer.rank;
    most = std::max(most, value);
    least = least == 0 ? value : std::min(least, value);
  }
  if (answer.rank) answer.condition = std::sqrt(most / least);
  return answer;
}

}  // namespace tally::discover
