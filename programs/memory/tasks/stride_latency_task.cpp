// Times one access and one fence at a time, by stride.
#include <algorithm>

#include "programs/memory/operations.hpp"
#include "programs/memory/rows.hpp"
#include "programs/memory/tasks/task.hpp"
#include "programs/memory/tasks/task_sizes.hpp"

namespace tally::memory {
namespace {

constexpr std::uint64_t most_window = 256 << 20;
constexpr std::uint64_t steps = 512;

// Measures one operation at one stride in all mappings.
Result<void> measure_stride(Runner& runner, const Operation& operation, std::uint64_t access, std::uint64_t stride,
                            std::vector<double>& references, result::Memory& result) {
  const Fence& fence = *runner.plan().fence;
  const std::uint64_t positions = std::clamp<std::uint64_t>(most_window / stride, 1, 1 << 16);
  Order order = forward_ring(positions);
  order.push_back(0);
  std::vector<MappingSample> samples;
  result::MemoryPoint row;
  for (int i = 0; i < runner.plan().mappings && !runner.must_stop(); ++i) {
    auto area = runner.fresh(positions * stride);
    if (!area) return fail(area.error());
    row.pages_got = area->got();
    flush(area->data(), positions * stride, 64);
    std::size_t at = 0;
    const auto body = [&] {
      const Stamp start = begin_stamp();
      for (std::uint64_t k = 0; k < steps; ++k) {
        operation.run({area->data(), order.data() + at, Blocks{1}, Bytes{stride}, Lines{access / 64}});
        fence.wait();
        at = at + 1 == positions ? 0 : at + 1;
      }
      return Timed{start, end_stamp(), 0};
    };
    Visit visit;
    runner.calibrate();
    runner.collect(visit, body, steps, runner.plan().batches);
    references.push_back(runner.reference_ns());
    samples.push_back({std::move(visit.ns), false, visit.rejected, references.back(), runner.core_ghz()});
  }
  if (samples.empty()) return {};
  row.task = result.task;
  row.quantity = operation.name;
  row.mode = "access and fence";
  row.order = name(OrderKind::forward);
  row.region_bytes = positions * access;
  row.block_bytes = access;
  row.stride_bytes = stride;
  row.count = positions;
  row.pages_asked = name(runner.plan().pages);
  if (operation.store != nullptr) row.store = operation.store->name;
  if (operation.load != nullptr) row.load = operation.load->name;
  row.fence = fence.name;
  row.seed = runner.plan().seed;
  set_timing(row, samples);
  result.points.push_back(std::move(row));
  return {};
}

}  // namespace

Result<void> run_stride_lat(Runner& runner, result::Memory& result) {
  const Plan& plan = runner.plan();
  struct Distance {
    std::uint64_t access = 0;
    std::uint64_t stride = 0;
  };
  std::vector<Distance> distances;
  for (const std::uint64_t access : or_else(plan.blocks, {64})) {
    if (plan.stride_bytes > 0) {
      distances.push_back({access, std::max(plan.stride_bytes, access)});
      continue;
    }
    const std::uint64_t last = std::max<std::uint64_t>(access, 16384);
    for (std::uint64_t stride = access; stride <= last; stride *= 2) distances.push_back({access, stride});
  }
  std::vector<double> references;
  double done = 0;
  const auto all = operations();
  for (const Operation& operation : all) {
    for (const auto& [access, stride] : distances) {
      if (runner.must_stop()) break;
      plan.progress(done++ / static_cast<double>(all.size() * distances.size()), std::string(operation.name));
      if (auto measured = measure_stride(runner, operation, access, stride, references, result); !measured) {
        return measured;
      }
    }
  }
  judge(result, references);
  return {};
}

}  // namespace tally::memory
