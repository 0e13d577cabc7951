#include "tally/output/result/memory_result.hpp"

namespace tally::result {

std::string_view name(Grade grade) {
  switch (grade) {
    case Grade::high: return "high";
    case Grade::medium: return "medium";
    case Grade::low: return "low";
  }
  return "low";
}

Grade grade_of(std::string_view word) {
  if (word == name(Grade::high)) return Grade::high;
  return word == name(Grade::medium) ? Grade::medium : Grade::low;
}

std::optional<double> Memory::count_of(const std::vector<double>& counts, std::string_view name) const {
  std::size_t place = 0;
  for (const MemoryCounter& counter : counters) {
    if (!counter.reason.empty()) continue;
    if (counter.name == name) return place < counts.size() ? std::optional(counts[place]) : std::nullopt;
    ++place;
  }
  return std::nullopt;
}

}  // namespace tally::result
