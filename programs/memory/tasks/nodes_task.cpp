// Latency and bandwidth of memory on each node, from the processors of each node.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "programs/linux/nodes.hpp"
#include "programs/memory/analysis/size_text.hpp"
#include "programs/memory/rates.hpp"
#include "programs/memory/rows.hpp"
#include "programs/memory/tasks/task.hpp"
#include "programs/memory/tasks/task_sizes.hpp"
#include "tally/linux/process/conditions.hpp"

namespace tally::memory {
namespace {

constexpr std::uint64_t nodes_region = 128 << 20;
constexpr std::uint64_t node_stream_access = 4096;

// The first processor of a node that this process may run on.
std::optional<int> processor_of(const linux::Node& node, const Runner& runner) {
  for (const int one : node.processors) {
    const auto& all = runner.processors();
    if (std::find(all.begin(), all.end(), one) != all.end()) return one;
  }
  return std::nullopt;
}

Result<result::MemoryPoint> latency(Runner& runner, std::uint64_t region, int node, std::vector<double>& references) {
  result::MemoryPoint row = lap_row(runner, {}, region / 64, 64);
  std::vector<MappingSample> samples;
  for (int i = 0; i < runner.plan().mappings && !runner.must_stop(); ++i) {
    auto visit = runner.visit({.blocks = region / 64, .node = node});
    if (!visit) return fail(visit.error());
    row.pages_got = visit->pages_got;
    references.push_back(visit->reference_ns);
    samples.push_back({std::move(visit->ns), visit->whole_laps, visit->rejected, visit->reference_ns, visit->ghz, 0,
                       std::move(visit->counts)});
  }
  set_timing(row, samples);
  return row;
}

Result<result::MemoryPoint> bandwidth(Runner& runner, std::uint64_t region, int node) {
  Stream stream{.operation = operations().front(),
                .order = forward_ring(std::max<std::uint64_t>(1, region / node_stream_access)),
                .order_name = "forward"};
  stream.order.push_back(0);
  stream.stride_bytes = stream.access_bytes = node_stream_access;
  stream.window_bytes = region;
  stream.node = node;
  return measure_rate(runner, stream, "nodes");
}

struct Pair {
  int processor = 0;
  int from = 0;  // the processor's node
  int memory = 0;
};

Result<void> measure(Runner& runner, const Pair& pair, std::uint64_t region, std::vector<double>& references,
                     result::Memory& result) {
  auto slow = latency(runner, region, pair.memory, references);
  if (!slow) return fail(slow.error());
  auto fast = bandwidth(runner, region, pair.memory);
  if (!fast) return fail(fast.error());
  const std::string route = fmt::format("from node {}", pair.from);
  slow->quantity = route;
  fast->quantity = fmt::format("{}, {}", route, fast->quantity);
  for (auto* const row : {&*slow, &*fast}) {
    row->task = result.task;
    row->node = pair.memory;
  }
  const auto x = static_cast<double>(pair.memory);
  const auto y = static_cast<double>(pair.from);
  // The two maps of this region are the last ones.
  if (slow->ns) result.maps[result.maps.size() - 2].cells.push_back({x, y, *slow->ns});
  if (fast->mb_per_second) result.maps.back().cells.push_back({x, y, *fast->mb_per_second});
  if (slow->ns && fast->mb_per_second) {
    result.findings.push_back(fmt::format("processor {} of node {} and {} in memory of node {}: {:.0f} ns, {:.0f} MB/s",
                                          pair.processor, pair.from, size_text(region), pair.memory, *slow->ns,
                                          *fast->mb_per_second));
  }
  result.points.push_back(*std::move(slow));
  result.points.push_back(*std::move(fast));
  return {};
}

// Adds the rows and the two maps of one region.
Result<void> measure_region(Runner& runner, const std::vector<linux::Node>& nodes, std::uint64_t region,
                            std::vector<double>& references, result::Memory& result) {
  const auto add_map = [&](const char* what, const char* unit) {
    result.maps.push_back({fmt::format("{}, regions of {}", what, size_text(region)),
                           "memory of node",
                           "processor of node",
                           false,
                           false,
                           unit,
                           {}});
  };
  add_map("Latency of memory on each node", "ns");
  add_map("Loads of memory on each node", "MB/s");
  double done = 0;
  for (const linux::Node& from : nodes) {
    const auto processor = processor_of(from, runner);
    if (!processor) continue;
    (void)linux::stay_on(*processor);
    for (const linux::Node& memory : nodes) {
      if (runner.must_stop()) break;
      runner.plan().progress(done++ / static_cast<double>(nodes.size() * nodes.size()), "memory nodes");
      if (auto measured = measure(runner, {*processor, from.id, memory.id}, region, references, result); !measured) {
        return measured;
      }
    }
  }
  (void)linux::stay_on(runner.processor());
  return {};
}

}  // namespace

Result<void> run_nodes(Runner& runner, result::Memory& result) {
  const auto nodes = linux::memory_nodes();
  if (nodes.empty()) {
    return fail(Code::cannot_measure, "this kernel lists no NUMA nodes (/sys/devices/system/node)",
                "without NUMA there is one node: `tally memory` measures it");
  }
  for (const linux::Node& node : nodes) {
    if (processor_of(node, runner)) continue;
    result.notices.push_back(fmt::format("node {} has no processor that this process may run on", node.id));
  }
  std::vector<double> references;
  for (const std::uint64_t region : or_else(runner.plan().regions, {nodes_region})) {
    if (auto measured = measure_region(runner, nodes, region, references, result); !measured) return measured;
  }
  if (nodes.size() == 1) result.findings.emplace_back("this machine has one memory node: no memory is remote");
  judge(result, references);
  return {};
}

}  // namespace tally::memory
