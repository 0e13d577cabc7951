// Tasks for each measurement of geometry and each control.
#include <fmt/format.h>

#include <algorithm>

#include "programs/memory/analysis/size_text.hpp"
#include "programs/memory/controls.hpp"
#include "programs/memory/measure_translations.hpp"
#include "programs/memory/reported.hpp"
#include "programs/memory/rows.hpp"
#include "programs/memory/statistics/timing_statistics.hpp"
#include "programs/memory/tasks/task.hpp"
#include "tally/core/base/text.hpp"

namespace tally::memory {
namespace {

// The latencies inside the first level and beyond it, by its reported size.
Result<std::pair<double, double>> first_latencies(Runner& runner, std::uint64_t first_bytes) {
  const auto inside = runner.visit({.blocks = first_bytes / 4 / line_bytes});
  if (!inside) return fail(inside.error());
  const auto beyond = runner.visit({.blocks = first_bytes * 4 / line_bytes});
  if (!beyond) return fail(beyond.error());
  return std::pair{median(inside->ns), median(beyond->ns)};
}

std::uint64_t first_level_bytes(const Runner& runner) {
  const auto caches = reported_caches(runner.processor());
  return caches.empty() ? 32 << 10 : static_cast<std::uint64_t>(caches.front().bytes);
}

}  // namespace

Result<void> run_ladder(Runner& runner, result::Memory& result) {
  std::vector<linux::PageKind> kinds{linux::PageKind::small};
  if (runner.plan().pages != linux::PageKind::small) kinds.push_back(runner.plan().pages);
  for (const auto pages : kinds) {
    const auto rungs = ladder(runner, pages, runner.plan().mappings);
    if (!rungs) return fail(rungs.error());
    for (const Rung& rung : *rungs) {
      auto row = lap_row(runner, result, 16384, rung.stride_bytes);
      row.quantity = "load";
      row.mode = "cold by-flush";
      row.pages_asked = name(pages);
      row.pages_got = rung.pages_got;
      row.ns = rung.ns;
      row.mappings = runner.plan().mappings;
      row.batches = rung.batches;
      row.rejected = rung.rejected;
      if (rung.rejected * 3 > rung.batches) row.flags.emplace_back("over a quarter of the batches rejected");
      result.points.push_back(std::move(row));
    }
  }
  judge(result, {runner.reference_ns()});
  return {};
}

Result<void> run_assoc(Runner& runner, result::Memory& result) {
  const auto latencies = first_latencies(runner, first_level_bytes(runner));
  if (!latencies) return fail(latencies.error());
  const auto hits = hit_counts(runner, latencies->first, latencies->second, 1 << 20, runner.plan().mappings);
  if (!hits) return fail(hits.error());
  for (const HitCount& one : *hits) {
    auto row = lap_row(runner, result, one.lines, one.stride_bytes);
    row.quantity = "lines that hit";
    row.mappings = runner.plan().mappings;
    result.points.push_back(std::move(row));
  }
  judge(result, {runner.reference_ns()});
  const Geometry geometry = cache_geometry(*hits, line_bytes);
  result.findings.push_back(geometry.ways
                                ? fmt::format("first level: {} ways x {} sets x 64 bytes = {}", *geometry.ways,
                                              *geometry.sets, size_text(*geometry.ways * *geometry.sets * line_bytes))
                                : "first level: ways and sets not determinable: " + geometry.reason);
  return {};
}

Result<void> run_tlb(Runner& runner, result::Memory& result) {
  const auto translations = measure_translations(runner);
  if (!translations) return fail(translations.error());
  const auto add = [&](const TlbHits& found, linux::PageKind pages) {
    for (const HitCount& one : found.hits) {
      auto row = lap_row(runner, result, one.lines, one.stride_bytes);
      row.quantity = "pages that hit";
      row.pages_asked = name(pages);
      row.pages_got = found.pages_got;
      row.mappings = runner.plan().mappings;
      result.points.push_back(std::move(row));
    }
  };
  add(translations->base, linux::PageKind::small);
  if (translations->asked) add(*translations->asked, runner.plan().pages);
  result.tlbs = rows_of(*translations, runner);
  judge(result, {runner.reference_ns()});
  return {};
}

Result<void> run_line(Runner& runner, result::Memory& result) {
  const auto pairs = pair_times(runner, 4 * first_level_bytes(runner));
  if (!pairs) return fail(pairs.error());
  for (const PairTime& one : *pairs) {
    auto row = lap_row(runner, result, 2, one.distance_bytes);
    row.quantity = "second word";
    row.ns = one.ns;
    row.mappings = 1;
    result.points.push_back(std::move(row));
  }
  judge(result, {runner.reference_ns()});
  const auto line = line_size(*pairs);
  result.findings.push_back(line ? fmt::format("a line is {} bytes", *line) : "all distances take the same time");
  return {};
}

Result<void> run_clock(Runner& runner, result::Memory& result) {
  std::vector<double> ghz;
  std::vector<double> references;
  constexpr int readings = 50;
  for (int i = 0; i < readings && !runner.must_stop(); ++i) {
    ghz.push_back(runner.core_ghz());
    references.push_back(runner.reference_ns());
  }
  auto row = lap_row(runner, result, 8, line_bytes);
  row.quantity = "load";
  row.ns = median(references);
  row.cycles = *row.ns * median(ghz);
  row.ns_low = quantile(references, 0.025);
  row.ns_high = quantile(references, 0.975);
  row.mappings = 1;
  row.batches = static_cast<std::int64_t>(references.size());
  result.points.push_back(std::move(row));
  judge(result, references);
  result.statistics = {{"core_ghz", median(ghz)},
                       {"core_ghz_lowest", quantile(ghz, 0)},
                       {"core_ghz_highest", quantile(ghz, 1)},
                       {"time_stamp_ghz", 1 / runner.ns(1)}};
  result.findings.push_back(fmt::format("core clock {:.3f} GHz ({:.3f} to {:.3f}), time-stamp counter {:.4f} GHz",
                                        median(ghz), quantile(ghz, 0), quantile(ghz, 1), 1 / runner.ns(1)));
  return {};
}

}  // namespace tally::memory
