#include "programs/discovery/analysis/robust.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tally::discover {

double spread(const std::vector<double>& values) {
  const double middle = median(values);
  std::vector<double> distances;
  for (const double value : values) distances.push_back(std::abs(value - middle));
  return 1.4826 * median(std::move(distances));
}

Line theil_sen(const std::vector<double>& x, const std::vector<double>& y) {
  std::vector<double> slopes;
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = i + 1; j < x.size(); ++j) {
      if (x[i] != x[j]) slopes.push_back((y[j] - y[i]) / (x[j] - x[i]));
    }
  }
  Line line;
  line.slope = median(std::move(slopes));
  std::vector<double> left;
  for (std::size_t i = 0; i < x.size(); ++i) left.push_back(y[i] - line.slope * x[i]);
  line.intercept = median(std::move(left));
  return line;
}

double above(double z) { return 0.5 * std::erfc(z / std::sqrt(2.0)); }

double t99(int degrees) {
  constexpr double z = 2.5758;  // of the normal distribution
  const double n = std::max(degrees, 1);
  const double first = (z * z * z + z) / 4;
  const double second = (5 * std::pow(z, 5) + 16 * std::pow(z, 3) + 3 * z) / 96;
  const double third = (3 * std::pow(z, 7) + 19 * std::pow(z, 5) + 17 * std::pow(z, 3) - 15 * z) / 384;
  return z + first / n + second / (n * n) + third / (n * n * n);
}

double t_above(double t, int degrees) {
  const double n = std::max(degrees, 1);
  const double z = std::sqrt(n * std::log1p(t * t / n)) * (8 * n + 1) / (8 * n + 3);
  return t >= 0 ? above(z) : 1 - above(z);
}

std::vector<bool> benjamini_hochberg(const std::vector<double>& p, double q) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  std::size_t rejected = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (p[order[i]] <= q * static_cast<double>(i + 1) / static_cast<double>(p.size())) rejected = i + 1;
  }
  std::vector<bool> answer(p.size(), false);
  for (std::size_t i = 0; i < rejected; ++i) answer[order[i]] = true;
  return answer;
}

}  // namespace tally::discover
