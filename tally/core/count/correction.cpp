#include "tally/core/count/correction.hpp"

#include <algorithm>
#include <cmath>

#include "tally/core/stats/median.hpp"

namespace tally {
namespace {

bool is_whole(const Count& count) { return count.value && count.trust == Trust::counted; }

}  // namespace

std::optional<std::int64_t> added_by_each(std::int64_t cold, std::int64_t warm, std::int64_t faults) {
  if (faults <= 0) return std::nullopt;
  const std::int64_t added = cold - warm;
  const auto each = static_cast<std::int64_t>(std::llround(static_cast<double>(added) / static_cast<double>(faults)));
  if (each < 0 || std::abs(added - each * faults) > faults / 8) return std::nullopt;
  return each;
}

std::optional<Correction> correction_of(const Count& raw, std::int64_t each, const Count& page_faults,
                                        const std::optional<Count>& interrupts) {
  if (!is_whole(raw) || !is_whole(page_faults)) return std::nullopt;
  Correction correction{*raw.value, each, *page_faults.value, std::nullopt};
  if (interrupts && is_whole(*interrupts)) correction.interrupts = interrupts->value;
  correction.corrected -= each * (correction.page_faults + correction.interrupts.value_or(0));
  return correction;
}

std::optional<Correction> median_correction(const std::vector<Count>& series) {
  if (series.empty() || !series.front().correction) return std::nullopt;
  const Correction& first = *series.front().correction;
  std::vector<std::int64_t> corrected, faults, interrupts;
  for (const Count& count : series) {
    if (!count.correction || count.correction->each != first.each) return std::nullopt;
    corrected.push_back(count.correction->corrected);
    faults.push_back(count.correction->page_faults);
    if (count.correction->interrupts) interrupts.push_back(*count.correction->interrupts);
  }
  Correction median{stats::whole_median(corrected), first.each, stats::whole_median(faults), std::nullopt};
  // Counts corrected for interrupts and counts that are not cannot be compared.
  if (!interrupts.empty() && interrupts.size() != series.size()) return std::nullopt;
  if (!interrupts.empty()) median.interrupts = stats::whole_median(interrupts);
  return median;
}

}  // namespace tally
