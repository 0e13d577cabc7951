// Latency and bandwidth of memory on each node, from the processors of each node.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "tally/linux/machine/nodes.hpp"
#include "tally/linux/process/conditions.hpp"
#include "tally/tools/memory/rates.hpp"
#include "tally/tools/memory/rows.hpp"
#include "tally/tools/memory/tasks/task.hpp"

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
  if (slow->ns) result.maps[0].cells.push_back({x, y, *slow->ns});
  if (fast->mb_per_second) result.maps[1].cells.push_back({x, y, *fast->mb_per_second});
  if (slow->ns && fast->mb_per_second) {
    result.findings.push_back(fmt::format("processor {} of node {} and memory of node {}: {:.0f} ns, {:.0f} MB/s",
                                          pair.processor, pair.from, pair.memory, *slow->ns, *fast->mb_per_second));
  }
  result.points.push_back(*std::move(slow));
  result.points.push_back(*std::move(fast));
  return {};
}

}  // namespace

Result<void> run_nodes(Runner& runner, result::Memory& result) {
  const auto nodes = linux::memory_nodes();
  if (nodes.empty()) {
    return fail(Code::cannot_measure, "this kernel lists no NUMA nodes (/sys/devices/system/node)",
                "without NUMA there is one node: `tally memory` measures it");
  }
  const std::uint64_t region = runner.plan().regions.empty() ? nodes_region : runner.plan().regions.back();
  result.maps = {{"Latency of memory on each node", "memory of node", "processor of node", false, false, "ns", {}},
                 {"Loads of memory on each node", "memory of node", "processor of node", false, false, "MB/s", {}}};
  std::vector<double> references;
  double done = 0;
  for (const linux::Node& from : nodes) {
    const auto processor = processor_of(from, runner);
    if (!processor) {
      result.notices.push_back(fmt::format("node {} has no processor that this process may run on", from.id));
      continue;
    }
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
  if (nodes.size() == 1) result.findings.emplace_back("this machine has one memory node: no memory is remote");
  judge(result, references);
  return {};
}

}  // namespace tally::memory
