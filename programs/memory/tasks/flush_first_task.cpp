// Times regions after accesses to another area emptied the smaller levels.
#include <fmt/format.h>

#include <algorithm>

#include "programs/memory/reported.hpp"
#include "programs/memory/rows.hpp"
#include "programs/memory/tasks/flush_first.hpp"
#include "programs/memory/tasks/task.hpp"
#include "tally/core/base/text.hpp"

namespace tally::memory {
namespace {

Chain chain_of(std::byte* base, const Order& order) {
  return {base, order.data(), Blocks{order.size() - 1}, Bytes{line_bytes}, Lines{1}};
}

}  // namespace

Result<Ground> make_ground(Runner& runner, std::uint64_t region_bytes, std::uint64_t scratch_bytes) {
  auto region = runner.fresh(region_bytes);
  auto scratch = runner.fresh(scratch_bytes);
  if (!region) return fail(region.error());
  if (!scratch) return fail(scratch.error());
  Ground ground{*std::move(region), *std::move(scratch), random_ring(region_bytes / line_bytes, runner.random()),
                forward_ring(scratch_bytes / line_bytes)};
  plant(ground.region.data(), ground.order, line_bytes);
  ground.order.push_back(0);
  ground.scratch_order.push_back(0);
  return ground;
}

Timed time_once(const Plan& plan, Ground& ground, TimedPart part) {
  plan.fence->wait();
  usual_store().write(chain_of(ground.scratch.data(), ground.scratch_order));
  plan.fence->wait();
  plan.load->touch(chain_of(ground.scratch.data(), ground.scratch_order));
  plan.fence->wait();
  const Chain chain = chain_of(ground.region.data(), ground.order);
  const Stamp start = begin_stamp();
  if (part != TimedPart::load) {
    plan.store->write(chain);
    plan.fence->wait();
  }
  std::uint64_t offset = 0;
  if (part != TimedPart::store) offset = plan.load->read(chain, 0);
  return {start, end_stamp(), offset};
}

Result<void> run_flush_first(Runner& runner, result::Memory& result) {
  const Plan& plan = runner.plan();
  const auto caches = reported_caches(runner.processor());
  // Four times the level to empty, which is the first one.
  const std::uint64_t scratch_bytes =
      4 * (caches.empty() ? 32 << 10 : static_cast<std::uint64_t>(caches.front().bytes));
  std::vector<std::uint64_t> regions = plan.regions;
  for (std::uint64_t bytes = line_bytes; plan.regions.empty() && bytes <= (64 << 10); bytes *= 2)
    regions.push_back(bytes);
  std::vector<double> references;
  const std::pair<TimedPart, const char*> parts[] = {
      {TimedPart::store, "write"}, {TimedPart::load, "read"}, {TimedPart::both, "write and read"}};
  double done = 0;
  for (const auto& [part, name] : parts) {
    for (const std::uint64_t bytes : regions) {
      std::vector<MappingSample> samples;
      result::MemoryPoint row;
      plan.progress(done++ / static_cast<double>(3 * regions.size()), name);
      for (int i = 0; i < plan.mappings && !runner.must_stop(); ++i) {
        auto ground = make_ground(runner, bytes, scratch_bytes);
        if (!ground) return fail(ground.error());
        row.pages_got = ground->region.got();
        Visit visit;
        runner.calibrate();
        runner.collect(
            visit, [&] { return time_once(plan, *ground, part); }, bytes / line_bytes, plan.batches);
        references.push_back(runner.reference_ns());
        samples.push_back({std::move(visit.ns), true, visit.rejected, references.back(), runner.core_ghz()});
      }
      if (samples.empty()) break;
      row.task = result.task;
      row.quantity = name;
      row.mode = "first level emptied";
      row.order = memory::name(OrderKind::random);
      row.region_bytes = bytes;
      row.block_bytes = row.stride_bytes = line_bytes;
      row.count = bytes / line_bytes;
      row.pages_asked = linux::name(plan.pages);
      if (part != TimedPart::load) row.store = plan.store->name;
      if (part != TimedPart::store) row.load = plan.load->name;
      row.fence = plan.fence->name;
      row.seed = plan.seed;
      set_timing(row, samples);
      result.points.push_back(std::move(row));
    }
  }
  judge(result, references);
  result.findings.push_back(fmt::format("before each, {} went through the first level",
                                        bytes_text(static_cast<std::int64_t>(scratch_bytes))));
  return {};
}

}  // namespace tally::memory
