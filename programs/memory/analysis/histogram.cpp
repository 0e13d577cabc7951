#include "programs/memory/analysis/histogram.hpp"

#include <cmath>
#include <map>
#include <utility>

namespace tally::memory {

result::MemoryHistogram histogram_of(std::span<const double> values, std::string name, std::string group,
                                     std::string unit) {
  constexpr double per_octave = 8;
  std::map<int, std::int64_t> counts;
  for (const double value : values) {
    if (value > 0) ++counts[static_cast<int>(std::floor(per_octave * std::log2(value)))];
  }
  result::MemoryHistogram histogram{std::move(name), std::move(group), std::move(unit), {}};
  for (const auto& [bin, count] : counts) {
    histogram.bins.push_back({std::exp2(bin / per_octave), std::exp2((bin + 1) / per_octave), count});
  }
  return histogram;
}

}  // namespace tally::memory
