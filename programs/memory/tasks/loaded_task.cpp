// Measures the latency of one thread while other threads move bytes.
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <iterator>
#include <thread>

#include "programs/memory/rates.hpp"
#include "programs/memory/rows.hpp"
#include "programs/memory/tasks/task.hpp"
#include "programs/memory/tasks/task_sizes.hpp"
#include "tally/linux/process/conditions.hpp"

namespace tally::memory {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t loaded_region = 64 << 20;
constexpr std::uint64_t stream_window = 64 << 20;
constexpr std::uint64_t stream_access = 4096;
// Additions after each 64 KiB that are moved: from hardly any load to full load.
constexpr std::uint64_t pauses[] = {1 << 20, 1 << 18, 1 << 16, 1 << 14, 0};

// Walks the chase while streams run on all other processors.
Result<result::MemoryPoint> latency_under_load(Runner& runner, const Stream& stream, std::vector<linux::Area>& areas,
                                               std::uint64_t pause, std::uint64_t region,
                                               std::vector<double>& references) {
  const auto& processors = runner.processors();
  std::atomic<bool> stop = false;
  std::atomic<std::uint64_t> moved = 0;
  const auto start = Clock::now();
  std::vector<std::jthread> others;
  for (std::size_t i = 0; i < areas.size(); ++i) {
    others.emplace_back([&, i] {
      (void)linux::stay_on(processors[i + 1]);
      stream_until(stream, areas[i].data(), stop, moved, pause);
    });
  }
  std::vector<MappingSample> samples;
  result::MemoryPoint row;
  std::optional<Error> failed;
  for (int i = 0; i < runner.plan().mappings && !runner.must_stop(); ++i) {
    auto visit = runner.visit({.blocks = region / 64});
    if (!visit) {
      failed = visit.error();
      break;
    }
    row.pages_got = visit->pages_got;
    references.push_back(visit->reference_ns);
    samples.push_back({std::move(visit->ns), visit->whole_laps, visit->rejected, visit->reference_ns, visit->ghz, 0,
                       std::move(visit->counts)});
  }
  stop = true;
  others.clear();
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  if (failed) return fail(*failed);
  row.quantity = stream.operation.name;
  row.mode = "lap, loaded";
  row.order = name(OrderKind::random);
  row.region_bytes = region;
  row.block_bytes = row.stride_bytes = 64;
  row.count = region / 64;
  row.pages_asked = name(runner.plan().pages);
  row.threads = 1 + static_cast<int>(areas.size());
  row.load = "scalar";
  row.seed = runner.plan().seed;
  set_timing(row, samples);
  if (row.ns) row.mb_per_second = static_cast<double>(moved) / seconds / 1e6 + 64e3 / *row.ns;
  return row;
}

}  // namespace

Result<void> run_loaded(Runner& runner, result::Memory& result) {
  const std::size_t others = runner.processors().size() - 1;
  if (others == 0) {
    return fail(Code::cannot_measure, "the task needs two CPUs, but this process may run on only one",
                "allow more with taskset or the container's CPU limit");
  }
  const Sizes regions = or_else(runner.plan().regions, {loaded_region});
  const double rows = 2.0 * std::size(pauses) * static_cast<double>(regions.size());
  std::vector<double> references;
  for (const Operation& operation : operations()) {
    if (operation.name != "load" && operation.name != "nt-store") continue;
    Stream stream{
        .operation = operation, .order = forward_ring(stream_window / stream_access), .order_name = "forward"};
    stream.order.push_back(0);
    stream.stride_bytes = stream.access_bytes = stream_access;
    std::vector<linux::Area> areas;
    for (std::size_t i = 0; i < others; ++i) {
      auto area = runner.fresh(stream_window);
      if (!area) return fail(area.error());
      areas.push_back(*std::move(area));
    }
    for (const std::uint64_t region : regions) {
      for (const std::uint64_t pause : pauses) {
        if (runner.must_stop()) break;
        runner.plan().progress(static_cast<double>(result.points.size()) / rows,
                               "latency during " + std::string(operation.name));
        auto row = latency_under_load(runner, stream, areas, pause, region, references);
        if (!row) return fail(row.error());
        row->task = result.task;
        result.points.push_back(*std::move(row));
      }
    }
  }
  judge(result, references);
  return {};
}

}  // namespace tally::memory
