#include "tally/memory/rows.hpp"

#include <algorithm>

namespace tally::memory {

void set_timing(result::MemoryPoint& row, const std::vector<MappingSample>& mappings) {
  const PointSummary summary = summarize_point(mappings);
  row.mappings = static_cast<std::int64_t>(mappings.size());
  row.batches = summary.batches;
  row.rejected = summary.rejected;
  row.flags = summary.flags;
  if (summary.batches == 0) return;
  row.ns = summary.ns;
  row.ns_min = summary.ns_min;
  row.ns_low = summary.ns_low;
  row.ns_high = summary.ns_high;
  row.cycles = summary.cycles;
}

void judge(result::Memory& result, const std::vector<double>& references) {
  auto& verdict = result.verdict;
  std::int64_t batches = 0;
  std::int64_t rejected = 0;
  for (const result::MemoryPoint& point : result.points) {
    batches += point.batches;
    rejected += point.rejected;
    verdict.flagged += point.flags.empty() ? 0 : 1;
  }
  verdict.points = static_cast<std::int64_t>(result.points.size());
  const auto tried = static_cast<double>(batches + rejected);
  verdict.rejected_percent = tried > 0 ? 100 * static_cast<double>(rejected) / tried : 0;
  const RunVerdict judged = judge_run(result.points.size(), static_cast<std::size_t>(verdict.flagged), references);
  verdict.contended = judged.contended;
  verdict.reference_moved_percent = judged.reference_moved_percent;
  verdict.text = judged.why;
}

}  // namespace tally::memory
