#include "programs/results/change_points.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>

namespace tally::results {
namespace {

// Fewest values of a segment: one or two can be outliers.
constexpr std::size_t shortest = 3;

// The cost of a growing segment: the sum of absolute deviations from its median, from two heaps around it.
class SegmentCost {
 public:
  void add(double value) {
    if (low_.empty() || value <= low_.top()) {
      low_.push(value);
      low_sum_ += value;
    } else {
      high_.push(value);
      high_sum_ += value;
    }
    balance();
  }
  double cost() const {
    const double median = low_.top();
    return (median * static_cast<double>(low_.size()) - low_sum_) +
           (high_sum_ - median * static_cast<double>(high_.size()));
  }

 private:
  void balance() {
    if (low_.size() > high_.size() + 1) {
      const double moved = low_.top();
      low_.pop();
      low_sum_ -= moved;
      high_.push(moved);
      high_sum_ += moved;
    } else if (high_.size() > low_.size()) {
      const double moved = high_.top();
      high_.pop();
      high_sum_ -= moved;
      low_.push(moved);
      low_sum_ += moved;
    }
  }
  std::priority_queue<double> low_;
  std::priority_queue<double, std::vector<double>, std::greater<>> high_;
  double low_sum_ = 0, high_sum_ = 0;
};

double lower_median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The mean absolute deviation of the noise, if it is normal; at least 0.005 % of the level, because a few instructions
// more or less (environment, dates) are no change of a program.
double scale_of(std::span<const double> values) {
  std::vector<double> differences;
  for (std::size_t i = 1; i < values.size(); ++i) differences.push_back(std::abs(values[i] - values[i - 1]));
  constexpr double deviation_of_median = 0.6745, mean_of_deviation = 0.7979;
  const double noise =
      lower_median(std::move(differences)) / (std::sqrt(2.0) * deviation_of_median) * mean_of_deviation;
  return std::max(noise, 5e-5 * std::abs(upper_median({values.begin(), values.end()})));
}

}  // namespace

double upper_median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::vector<std::size_t> change_points(std::span<const double> values) {
  const std::size_t n = values.size();
  if (n < 2 * shortest) return {};
  const double penalty = 3 * std::log(static_cast<double>(n)) * scale_of(values);
  constexpr double never = std::numeric_limits<double>::infinity();
  std::vector<double> best(n + 1, never);  // of the first i values
  std::vector<std::size_t> last(n + 1, 0);
  best[0] = -penalty;
  struct Candidate {
    std::size_t start;
    SegmentCost segment{};
    std::size_t worse_at = 0;  // the end from which it is not needed; 0: none
  };
  std::vector<Candidate> candidates{{0}};
  for (std::size_t end = 1; end <= n; ++end) {
    for (Candidate& candidate : candidates) {
      candidate.segment.add(values[end - 1]);
      if (end - candidate.start < shortest) continue;
      const double total = best[candidate.start] + candidate.segment.cost() + penalty;
      if (total < best[end]) {
        best[end] = total;
        last[end] = candidate.start;
      }
    }
    // A start that costs more than the best end without a penalty is not the best one again, as soon as a segment can
    // begin at this end.
    std::erase_if(candidates, [&](Candidate& one) {
      if (one.worse_at == 0 && end - one.start >= shortest && best[one.start] + one.segment.cost() > best[end])
        one.worse_at = end;
      return one.worse_at != 0 && end + 1 >= one.worse_at + shortest;
    });
    if (best[end] < never) candidates.push_back({end});
  }
  std::vector<std::size_t> points;
  for (std::size_t end = n; last[end] != 0; end = last[end]) points.push_back(last[end]);
  std::reverse(points.begin(), points.end());
  return points;
}

}  // namespace tally::results
