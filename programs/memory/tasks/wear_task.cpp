// Writes one address again and again, in several ways: when the device moves the data, and what delays that.
#include <fmt/format.h>

#include <array>

#include "programs/memory/analysis/histogram.hpp"
#include "programs/memory/analysis/size_text.hpp"
#include "programs/memory/operation_times.hpp"
#include "programs/memory/operations.hpp"
#include "programs/memory/rows.hpp"
#include "programs/memory/statistics/timing_statistics.hpp"
#include "programs/memory/tasks/task.hpp"
#include "programs/memory/tasks/task_sizes.hpp"

namespace tally::memory {
namespace {

constexpr std::uint64_t usual_bytes = 256;
constexpr std::uint64_t usual_distance = 4096;
constexpr std::size_t wear_writes = 1 << 18;
constexpr std::size_t every = 32;             // writes between two short delays
constexpr std::uint64_t short_adds = 1 << 9;  // additions of one core cycle each
constexpr std::uint64_t long_adds = 1 << 25;
constexpr double threshold_ns = 20'000;  // a slower write means that the device moved data, or that something disturbed
                                         // the thread

// One way to write; its delays are not timed.
struct WriteMethod {
  const char* name;
  bool plain = false;  // a store and a write-back instead of a non-temporal store
  bool alternates = false;
  std::size_t delay_every = 0;
  bool rests_half_way = false;
  bool until_slow = false;
};

constexpr std::array methods{
    WriteMethod{.name = "nt-store"},
    WriteMethod{.name = "store-clwb", .plain = true},
    WriteMethod{.name = "delay after each", .delay_every = 1},
    WriteMethod{.name = "two addresses in turn", .alternates = true},
    WriteMethod{.name = "one pause half-way", .rests_half_way = true},
    WriteMethod{.name = "delay after each 32", .delay_every = every},
    WriteMethod{.name = "until one is slow", .until_slow = true},
};

const Store* store_of(const WriteMethod& method) {
  for (const Operation& one : operations()) {
    if (one.name == (method.plain ? "store-clwb" : "nt-store")) return one.store;
  }
  return nullptr;
}

Series write_repeatedly(Runner& runner, std::byte* base, const Store& store, const WriteMethod& method,
                        std::uint64_t bytes, std::uint64_t distance) {
  static const std::vector<std::uint32_t> once{0, 0};
  const auto before = [&](std::size_t i) {
    if (method.delay_every > 0 && i % method.delay_every == 0) (void)adds(short_adds);
    if (method.rests_half_way && i == wear_writes / 2) (void)adds(long_adds);
  };
  const auto body = [&](std::size_t i) {
    std::byte* const at = base + (method.alternates && i % 2 == 1 ? distance : 0);
    store.write({at, once.data(), Blocks{1}, Bytes{bytes}, Lines{bytes / 64}});
    runner.plan().fence->wait();
  };
  return time_each(runner, wear_writes, before, body);
}

// The loop without writes, as a control.
struct EmptyLoop {
  Series series;
  std::size_t slow = 0;
};

// Writes a block of this size in each way. `of` names the size, if several are measured.
Result<void> wear_block(Runner& runner, std::uint64_t bytes, const std::string& of, const EmptyLoop& control,
                        result::Memory& result) {
  const Plan& plan = runner.plan();
  const std::uint64_t distance = std::max(bytes, plan.stride_bytes > 0 ? plan.stride_bytes : usual_distance);
  auto area = runner.fresh(distance + bytes);
  if (!area) return fail(area.error());
  const std::string duration = "Duration of a write" + of;
  for (const WriteMethod& method : methods) {
    const Store* const store = store_of(method);
    if (store == nullptr || runner.must_stop()) continue;
    plan.progress(static_cast<double>(&method - methods.data()) / methods.size(), method.name);
    const Series series = write_repeatedly(runner, area->data(), *store, method, bytes, distance);
    const auto slow = outlying(series.ns);
    const Tails tails = judge_tails(slow, series.seconds, control.slow, control.series.seconds);
    result::MemoryPoint row;
    row.task = result.task;
    row.quantity = method.name;
    row.mode = "wear";
    row.order = "one place";
    row.region_bytes = row.block_bytes = bytes;
    row.stride_bytes = method.alternates ? distance : bytes;
    row.count = method.alternates ? 2 : 1;
    row.pages_asked = name(plan.pages);
    row.store = store->name;
    row.fence = plan.fence->name;
    row.seed = plan.seed;
    set_timing(row, series.ns);
    result.points.push_back(std::move(row));
    result.histograms.push_back(histogram_of(series.ns, method.name, duration, "ns"));
    result.statistics.emplace_back(fmt::format("{}, slow_writes{}", method.name, of), static_cast<double>(slow.size()));
    result.statistics.emplace_back(fmt::format("{}, gap_variation{}", method.name, of), tails.variation);
    if (tails.periodic) {
      result.findings.push_back(fmt::format("{}: a slow write every {:.0f}, {:.1f} us each{}", method.name,
                                            tails.mean_gap, tails.median / 1000, of));
    }
    if (!method.until_slow) continue;
    const auto first = std::find_if(series.ns.begin(), series.ns.end(), [](double ns) { return ns > threshold_ns; });
    if (first != series.ns.end()) {
      result.statistics.emplace_back("writes_until_one_over_20_us" + of,
                                     static_cast<double>(first - series.ns.begin() + 1));
    }
  }
  result.histograms.push_back(histogram_of(control.series.ns, "the same without writes", duration, "ns"));
  return {};
}

}  // namespace

Result<void> run_wear(Runner& runner, result::Memory& result) {
  EmptyLoop control{time_each(runner, wear_writes, nothing_before, [&](std::size_t) { runner.plan().fence->wait(); })};
  control.slow = outlying(control.series.ns).size();
  const Sizes blocks = or_else(runner.plan().blocks, {usual_bytes});
  for (const std::uint64_t bytes : blocks) {
    const std::string of = blocks.size() > 1 ? ", block " + size_text(bytes) : std::string();
    if (auto done = wear_block(runner, bytes, of, control, result); !done) return done;
  }
  judge(result, {runner.reference_ns()});
  if (result.findings.empty()) {
    result.findings.push_back(
        fmt::format("no kind of write has periodic slow writes; the loop without writes has {:.0f} per second",
                    static_cast<double>(control.slow) / control.series.seconds));
  }
  return {};
}

}  // namespace tally::memory
