// Writes the blocks of a small region again and again: the time of each write, and whether slow writes are periodic.
#include <fmt/format.h>

#include <algorithm>

#include "programs/memory/analysis/histogram.hpp"
#include "programs/memory/analysis/size_text.hpp"
#include "programs/memory/analysis/tails.hpp"
#include "programs/memory/operation_times.hpp"
#include "programs/memory/passes.hpp"
#include "programs/memory/rows.hpp"
#include "programs/memory/statistics/timing_statistics.hpp"
#include "programs/memory/tasks/task.hpp"
#include "programs/memory/tasks/task_sizes.hpp"

namespace tally::memory {
namespace {

void add_series(const Runner& runner, const Series& series, const char* quantity, std::uint64_t bytes,
                const std::string& of, result::Memory& result) {
  result::MemoryPoint row;
  row.task = result.task;
  row.quantity = quantity;
  row.mode = "overwrite";
  row.order = "forward";
  row.region_bytes = row.block_bytes = row.stride_bytes = bytes;
  row.count = 1;
  row.pages_asked = name(runner.plan().pages);
  row.store = runner.plan().store->name;
  row.fence = runner.plan().fence->name;
  row.seed = runner.plan().seed;
  set_timing(row, series.ns);
  result.points.push_back(std::move(row));
  for (const double q : {0.5, 0.99, 0.999, 0.9999}) {
    result.controls.push_back({fmt::format("{} p{:g}{}", quantity, 100 * q, of),
                               fmt::format("{:.0f} ns", quantile(series.ns, q)), quantile(series.ns, q), "ns"});
  }
}

// Writes blocks of this size. `of` names the size, if several are measured.
Result<void> overwrite_blocks(Runner& runner, std::uint64_t bytes, const std::string& of, result::Memory& result) {
  constexpr std::size_t writes = 1 << 20;
  auto area = runner.fresh(std::max<std::uint64_t>(1 << 20, bytes));
  if (!area) return fail(area.error());
  const std::vector<std::uint32_t> order{0, 0};
  const Plan& plan = runner.plan();
  const std::uint64_t block_count = area->size() / bytes;
  const auto write = time_each(runner, writes, nothing_before, [&](std::size_t i) {
    plan.store->write(
        {area->data() + i % block_count * bytes, order.data(), Blocks{1}, Bytes{bytes}, Lines{bytes / 64}});
    plan.fence->wait();
  });
  const auto control = time_each(runner, writes, nothing_before, [&](std::size_t) { plan.fence->wait(); });
  add_series(runner, write, "write", bytes, of, result);
  add_series(runner, control, "control", bytes, of, result);
  const auto slow = outlying(write.ns);
  const auto slow_control = outlying(control.ns);
  const std::string duration = "Duration of a write" + of;
  const std::string gaps = "Gaps" + of;
  result.histograms.push_back(histogram_of(write.ns, "write", duration, "ns"));
  result.histograms.push_back(histogram_of(control.ns, "the same without writes", duration, "ns"));
  result.histograms.push_back(histogram_of(gaps_of(slow), "writes between two slow ones", gaps, "writes"));
  result.histograms.push_back(histogram_of(gaps_of(slow_control), "the same without writes", gaps, "writes"));
  const Tails tails = judge_tails(slow, write.seconds, slow_control.size(), control.seconds);
  const double rate = static_cast<double>(slow.size()) / write.seconds;
  const double control_rate = static_cast<double>(slow_control.size()) / control.seconds;
  for (const auto& [name, number] : {std::pair{"slow_writes", static_cast<double>(slow.size())},
                                     {"slow_writes_per_second", rate},
                                     {"slow_controls_per_second", control_rate},
                                     {"mean_gap_writes", tails.mean_gap},
                                     {"gap_variation", tails.variation}}) {
    result.statistics.emplace_back(name + of, number);
  }
  result.findings.push_back(
      (tails.periodic
           ? fmt::format("slow writes are periodic: every {:.0f} writes, variation {:.2f}, {:.1f} us each",
                         tails.mean_gap, tails.variation, tails.median / 1000)
           : fmt::format("slow writes are not periodic (variation of the gaps {:.2f}): {:.0f} per second, and "
                         "{:.0f} in the same loop without writes",
                         tails.variation, rate, control_rate)) +
      of);
  return {};
}

}  // namespace

Result<void> run_overwrite(Runner& runner, result::Memory& result) {
  const Sizes blocks = or_else(runner.plan().blocks, {256});
  for (const std::uint64_t bytes : blocks) {
    if (runner.must_stop()) break;
    const std::string of = blocks.size() > 1 ? ", block " + size_text(bytes) : std::string();
    if (auto done = overwrite_blocks(runner, bytes, of, result); !done) return done;
  }
  judge(result, {runner.reference_ns()});
  return {};
}

}  // namespace tally::memory
