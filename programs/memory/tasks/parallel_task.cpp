// Walks several rings together, to show how many loads overlap.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "programs/memory/analysis/size_text.hpp"
#include "programs/memory/rows.hpp"
#include "programs/memory/tasks/task.hpp"
#include "programs/memory/tasks/task_sizes.hpp"

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

// Adds a row for each number of rings, from 1 on; fewer if the time is over.
Result<void> measure_rings(Runner& runner, std::uint64_t region, double from, double to,
                           std::vector<double>& references, result::Memory& result) {
  const std::uint64_t lines = region / line_bytes;
  for (int rings = 1; rings <= most_rings; ++rings) {
    std::vector<MappingSample> samples;
    result::MemoryPoint row;
    for (int i = 0; i < runner.plan().mappings && !runner.must_stop(); ++i) {
      runner.plan().progress(from + (to - from) * (rings - 1.0) / most_rings, fmt::format("{} rings", rings));
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
  return {};
}

// How many loads of a region overlap, from the rows of that region.
void add_parallelism(std::span<const result::MemoryPoint> rows, bool name_region, result::Memory& result) {
  if (rows.empty() || !rows.front().ns || !rows.back().ns) return;
  const auto best = std::min_element(
      rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.ns.value_or(1e9) < b.ns.value_or(1e9); });
  const double parallel = *rows.front().ns / *best->ns;
  const std::string of = name_region ? ", region " + size_text(best->region_bytes) : std::string();
  result.statistics.emplace_back("parallelism" + of, parallel);
  result.statistics.emplace_back("rings_of_the_best" + of, static_cast<double>(best->count));
  result.findings.push_back(fmt::format("{:.1f} loads overlap with {} rings: {:.1f} ns each instead of {:.1f}{}",
                                        parallel, best->count, *best->ns, *rows.front().ns, of));
}

}  // namespace

Result<void> run_mlp(Runner& runner, result::Memory& result) {
  const Sizes regions = or_else(runner.plan().regions, {parallel_region});
  // Each ring starts at a line of its own.
  constexpr std::uint64_t least = most_rings * line_bytes;
  if (regions.front() < least) {
    return fail(Code::bad_usage,
                fmt::format("a region of {} holds fewer than {} lines", size_text(regions.front()), most_rings),
                fmt::format("choose --regions of at least {}", size_text(least)));
  }
  std::vector<double> references;
  std::vector<std::size_t> ends;
  for (std::size_t i = 0; i < regions.size(); ++i) {
    const auto share = [&](std::size_t part) {
      return static_cast<double>(part) / static_cast<double>(regions.size());
    };
    if (auto done = measure_rings(runner, regions[i], share(i), share(i + 1), references, result); !done) return done;
    ends.push_back(result.points.size());
  }
  judge(result, references);
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    add_parallelism(std::span(result.points).subspan(begin, end - begin), regions.size() > 1, result);
    begin = end;
  }
  return {};
}

}  // namespace tally::memory
