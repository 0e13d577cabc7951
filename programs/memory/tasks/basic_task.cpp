// Times single operations, and shows the distribution of each.
#include <fmt/format.h>

#include <cmath>

#include "programs/memory/analysis/histogram.hpp"
#include "programs/memory/operation_times.hpp"
#include "programs/memory/operations.hpp"
#include "programs/memory/rows.hpp"
#include "programs/memory/statistics/timing_statistics.hpp"
#include "programs/memory/tasks/task.hpp"

namespace tally::memory {
namespace {

constexpr std::uint64_t basic_window = 64 << 20;
constexpr std::uint64_t widest_access = 256;
constexpr std::size_t samples = 1 << 13;
const std::vector<std::uint32_t> once{0, 0};

// The operations of all tasks, and stores that are followed by an operation on the line.
std::vector<Operation> all_operations() {
  std::vector<Operation> all = operations();
  for (const Store& store : stores()) {
    const bool known =
        store.name.find("+clwb") != std::string_view::npos || store.name.find("+cvac") != std::string_view::npos;
    if (store.present() && store.name.find('+') != std::string_view::npos && !known) {
      all.push_back({.name = store.name, .store = &store});
    }
  }
  all.push_back({.name = "8 bytes of each line", .load = &loads().front()});
  return all;
}

// Cached stores begin with the line in the caches, all other operations with the line in memory.
bool begins_cached(const Operation& operation) {
  return operation.store != nullptr && operation.name != "nt-store" && !operation.store->name.starts_with("nt");
}

struct AccessOrder {
  const char* name;
  std::vector<std::uint64_t> offsets;
};

std::vector<AccessOrder> both_orders(Runner& runner) {
  AccessOrder forward{"forward", {}};
  AccessOrder random{"random", {}};
  for (std::size_t i = 0; i < samples; ++i) {
    forward.offsets.push_back(i * widest_access % basic_window);
    random.offsets.push_back(runner.random().uniform(0, basic_window / widest_access - 1) * widest_access);
  }
  return {forward, random};
}

Series time_operation(Runner& runner, std::byte* base, const AccessOrder& order, const Operation* operation,
                      std::uint64_t bytes) {
  const Fence& fence = *runner.plan().fence;
  const auto prepare = [&](std::size_t i) {
    std::byte* const at = base + order.offsets[i];
    if (operation != nullptr && begins_cached(*operation)) {
      for (std::uint64_t k = 0; k < bytes; k += 64) at[k] = std::byte{1};
    } else {
      flush(at, bytes, 64);
    }
  };
  const auto body = [&](std::size_t i) {
    if (operation != nullptr)
      operation->run({base + order.offsets[i], once.data(), Blocks{1}, Bytes{bytes}, Lines{bytes / 64}});
    fence.wait();
  };
  return time_each(runner, samples, prepare, body);
}

void add_row(const Runner& runner, const Series& series, const std::string& name, const AccessOrder& order,
             std::uint64_t bytes, double empty_ns, result::Memory& result) {
  result::MemoryPoint row;
  row.task = result.task;
  row.quantity = name;
  row.mode = "single";
  row.order = order.name;
  row.region_bytes = basic_window;
  row.block_bytes = row.stride_bytes = bytes;
  row.count = 1;
  row.pages_asked = linux::name(runner.plan().pages);
  row.fence = runner.plan().fence->name;
  row.seed = runner.plan().seed;
  row.mappings = 1;
  row.batches = static_cast<std::int64_t>(series.ns.size());
  if (!series.ns.empty()) {
    // Sums of the same ticks differ by rounding of doubles; print that as 0, not as "-0.00".
    const auto beyond = [&](double ns) { return std::abs(ns - empty_ns) < 0.005 ? 0.0 : ns - empty_ns; };
    row.ns = beyond(median(series.ns));
    row.ns_low = beyond(quantile(series.ns, 0.025));
    row.ns_high = beyond(quantile(series.ns, 0.975));
  }
  result.points.push_back(std::move(row));
}

}  // namespace

Result<void> run_basic(Runner& runner, result::Memory& result) {
  auto area = runner.fresh(basic_window);
  if (!area) return fail(area.error());
  const auto all = all_operations();
  double done = 0;
  for (const AccessOrder& order : both_orders(runner)) {
    const Series empty = time_operation(runner, area->data(), order, nullptr, 64);
    const double empty_ns = median(empty.ns);
    result.controls.push_back(
        {fmt::format("only the fence, {}", order.name), fmt::format("{:.1f} ns", empty_ns), empty_ns, "ns"});
    for (const std::uint64_t bytes : {64, 128, 256}) {
      const std::string group = fmt::format("{} bytes, {}", bytes, order.name);
      for (const Operation& operation : all) {
        if (runner.must_stop()) break;
        runner.plan().progress(done++ / static_cast<double>(6 * all.size()), std::string(operation.name));
        const Series series = time_operation(runner, area->data(), order, &operation, bytes);
        add_row(runner, series, std::string(operation.name), order, bytes, empty_ns, result);
        result.histograms.push_back(histogram_of(series.ns, std::string(operation.name), group, "ns"));
      }
      result.histograms.push_back(histogram_of(empty.ns, "only the fence", group, "ns"));
    }
  }
  result.findings.emplace_back("times are those of an operation and its fence, less the median of the fence alone");
  judge(result, {runner.reference_ns()});
  return {};
}

}  // namespace tally::memory
