#include "tally/core/stats/median.hpp"

#include <algorithm>
#include <utility>

namespace tally::stats {
namespace {

/// The two middle values; the same value twice if their number is odd. `values` is not empty.
template <class Number>
std::pair<Number, Number> middle_of(std::vector<Number>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return {*middle, *middle};
  return {*std::max_element(values.begin(), middle), *middle};
}

template <class Number>
Number mean_of_middle(std::vector<Number>& values) {
  if (values.empty()) return 0;
  const auto [lower, upper] = middle_of(values);
  return lower == upper ? lower : (lower + upper) / 2;
}

}  // namespace

double median(std::vector<double> values) { return mean_of_middle(values); }

long double wide_median(std::vector<long double> values) { return mean_of_middle(values); }

std::int64_t whole_median(std::vector<std::int64_t> values) {
  if (values.empty()) return 0;
  const auto [lower, upper] = middle_of(values);
  const auto distance = static_cast<std::uint64_t>(upper) - static_cast<std::uint64_t>(lower);
  return lower + static_cast<std::int64_t>(distance / 2);
}

}  // namespace tally::stats
