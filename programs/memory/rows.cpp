#include "programs/memory/rows.hpp"

#include <algorithm>

#include "programs/memory/statistics/timing_statistics.hpp"

namespace tally::memory {
void set_timing(result::MemoryPoint& row, const std::vector<MappingSample>& mappings) {
  row.mappings = static_cast<std::int64_t>(mappings.size());
  set_timing(row, summarize_point(mappings));
}

void set_timing(result::MemoryPoint& row, const PointSummary& summary) {
  row.batches = summary.batches;
  row.rejected = summary.rejected;
  row.flags = summary.flags;
  if (summary.batches == 0) return;
  row.ns = summary.ns;
  row.ns_min = summary.ns_min;
  row.ns_low = summary.ns_low;
  row.ns_high = summary.ns_high;
  row.cycles = summary.cycles;
  row.counts = summary.counts;
}

void set_timing(result::MemoryPoint& row, const std::vector<double>& ns) {
  row.laps = ns.size();
  row.mappings = 1;
  row.batches = static_cast<std::int64_t>(ns.size());
  if (ns.empty()) return;
  row.ns = median(ns);
  row.ns_low = quantile(ns, 0.025);
  row.ns_high = quantile(ns, 0.975);
}

Circumstances circumstances(const Runner& runner) {
  const Plan& plan = runner.plan();
  return {plan.processor.has_value(), runner.processors().size(), plan.mappings, plan.budget.count()};
}

result::MemoryPoint lap_row(const Runner& runner, const result::Memory& result, std::uint64_t n,
                            std::uint64_t stride_bytes) {
  result::MemoryPoint row;
  row.task = result.task;
  row.mode = "lap";
  row.order = name(OrderKind::random);
  row.region_bytes = n * line_bytes;
  row.block_bytes = line_bytes;
  row.stride_bytes = stride_bytes;
  row.count = n;
  row.pages_asked = name(runner.plan().pages);
  row.load = "scalar";
  row.seed = runner.plan().seed;
  return row;
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
