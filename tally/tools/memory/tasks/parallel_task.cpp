// Walks several rings together, to show how many loads overlap.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tally/tools/memory/rows.hpp"
#include "tally/tools/memory/tasks/task.hpp"

namespace tally::memory {
namespace {

constexpr std::uint64_t parallel_region = 64 << 20;

// Walks one ring through the whole region; each walker starts at a different block.
Result<Visit> visit_together(Runner& runner, std::uint64_t lines, int rings) {
  auto area = runner.fresh(lines * line_bytes);
  if (!area) return fail(area.error());
  const Order order = random_ring(lines, runner.random());
  plant(area->data(), order, line_bytes);
  std::array<std::uint64_t, most_rings> offsets{};
  for (int i = 0; i < rings; ++i) {
    const auto part = static_cast<std::uint64_t>(i) * lines / static_cast<std::uint64_t>(rings);
    offsets[static_cast<std::size_t>(i)] = order[part] * line_bytes;
  }
  Visit visit;
  visit.pages_got = area->got();
  runner.calibrate();
  visit.ghz = runner.core_ghz();
  visit.reference_ns = runner.reference_ns();
  constexpr std::uint64_t steps = 2048;
  const auto body = [&] { return chase_together(area->data(), offsets.data(), rings, steps); };
  (void)body();
  runner.collect(visit, body, steps * static_cast<std::uint64_t>(rings), runner.plan().batches);
  return visit;
}

}  // namespace

Result<void> run_mlp(Runner& runner, result::Memory& result) {
  const std::uint64_t region = runner.plan().regions.empty() ? parallel_region : runner.plan().regions.back();
  const std::uint64_t lines = std::max<std::uint64_t>(most_rings, region / line_bytes);
  std::vector<double> references;
  for (int rings = 1; rings <= most_rings; ++rings) {
    std::vector<MappingSample> samples;
    result::MemoryPoint row;
    for (int i = 0; i < runner.plan().mappings && !runner.must_stop(); ++i) {
      runner.plan().progress((rings - 1.0) / most_rings, fmt::format("{} rings", rings));
      auto visit = visit_together(runner, lines, rings);
      if (!visit) return fail(visit.error());
      row.pages_got = visit->pages_got;
      references.push_back(visit->reference_ns);
      samples.push_back(
          {std::move(visit->ns), false, visit->rejected, visit->reference_ns, visit->ghz, 0, std::move(visit->counts)});
    }
    if (samples.empty()) break;
    row.task = result.task;
    row.quantity = "load";
    row.mode = "rings together";
    row.order = name(OrderKind::random);
    row.region_bytes = lines * line_bytes;
    row.block_bytes = row.stride_bytes = line_bytes;
    row.count = static_cast<std::uint64_t>(rings);
    row.pages_asked = name(runner.plan().pages);
    row.load = "scalar";
    row.seed = runner.plan().seed;
    set_timing(row, samples);
    result.points.push_back(std::move(row));
  }
  judge(result, references);
  const auto& points = result.points;
  if (points.empty() || !points.front().ns || !points.back().ns) return {};
  const auto best = std::min_element(points.begin(), points.end(), [](const auto& a, const auto& b) {
    return a.ns.value_or(1e9) < b.ns.value_or(1e9);
  });
  const double parallel = *points.front().ns / *best->ns;
  result.statistics = {{"parallelism", parallel}, {"rings_of_the_best", static_cast<double>(best->count)}};
  result.findings.push_back(fmt::format("{:.1f} loads overlap with {} rings: {:.1f} ns each instead of {:.1f}",
                                        parallel, best->count, *best->ns, *points.front().ns));
  return {};
}

}  // namespace tally::memory
