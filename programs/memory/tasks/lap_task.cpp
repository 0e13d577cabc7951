// Times laps over few lines at many strides, to show which lines hit.
#include <fmt/format.h>

#include <algorithm>

#include "programs/memory/analysis/permutation.hpp"
#include "programs/memory/analysis/size_text.hpp"
#include "programs/memory/rows.hpp"
#include "programs/memory/tasks/task.hpp"
#include "tally/linux/machine/pages.hpp"

namespace tally::memory {
namespace {

constexpr std::uint64_t widest_span = 64 << 20;

std::vector<std::uint64_t> counts_of(const Plan& plan) {
  if (plan.regions.empty()) {
    return {4, 8, 10, 11, 12, 13, 14, 16, 20, 24, 28, 32, 40, 48, 64, 96, 128, 192, 256, 384, 512, 640, 768, 896, 1024};
  }
  std::vector<std::uint64_t> counts;
  for (const std::uint64_t region : plan.regions) counts.push_back(std::max<std::uint64_t>(1, region / line_bytes));
  return counts;
}

std::vector<std::uint64_t> strides_of(const Plan& plan) {
  if (plan.stride_bytes > 0) return {plan.stride_bytes};
  std::vector<std::uint64_t> strides;
  for (std::uint64_t stride = line_bytes; stride <= (1 << 16); stride *= 2) strides.push_back(stride);
  return strides;
}

}  // namespace

Result<void> run_lap(Runner& runner, result::Memory& result) {
  const auto counts = counts_of(runner.plan());
  const auto strides = strides_of(runner.plan());
  if (counts.back() * strides.front() > widest_span) {
    return fail(Code::bad_usage,
                fmt::format("{} lines {} apart span more than {}", counts.back(), size_text(strides.front()),
                            size_text(widest_span)),
                "choose smaller --regions, or a smaller --stride");
  }
  std::vector<double> references;
  result::MemoryMap map{"Laps: lines one stride apart", "stride", "lines", true, false, "ns per load", {}};
  double done = 0;
  for (const std::uint64_t stride : strides) {
    for (const std::uint64_t n : counts) {
      if (runner.must_stop() || n * stride > widest_span) continue;
      runner.plan().progress(done++ / static_cast<double>(counts.size() * strides.size()), "laps");
      std::vector<MappingSample> samples;
      result::MemoryPoint row = lap_row(runner, result, n, stride);
      row.quantity = "load";
      row.order = name(runner.plan().order);
      // Two by default, which suffice to see whether they differ: the map has hundreds of points.
      for (int i = 0; i < runner.plan().mappings; ++i) {
        auto visit = runner.visit({.blocks = n,
                                   .stride_bytes = stride,
                                   .order = runner.plan().order,
                                   .group_blocks = std::max<std::uint64_t>(1, linux::page_bytes() / stride),
                                   .batch_ns = 50'000});
        if (!visit) return fail(visit.error());
        row.pages_got = visit->pages_got;
        references.push_back(visit->reference_ns);
        samples.push_back({std::move(visit->ns), visit->whole_laps, visit->rejected, visit->reference_ns, visit->ghz, 0,
                           std::move(visit->counts)});
      }
      set_timing(row, samples);
      if (row.ns) map.cells.push_back({static_cast<double>(stride), static_cast<double>(n), *row.ns});
      result.points.push_back(std::move(row));
    }
  }
  result.maps.push_back(std::move(map));
  judge(result, references);
  return {};
}

}  // namespace tally::memory
