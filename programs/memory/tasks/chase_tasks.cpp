// Writes, cold reads and reads after writes, by region and block size, and the conclusions from them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "programs/memory/analysis/cold.hpp"
#include "programs/memory/analysis/fence.hpp"
#include "programs/memory/analysis/size_text.hpp"
#include "programs/memory/passes.hpp"
#include "programs/memory/rows.hpp"
#include "programs/memory/tasks/task.hpp"
#include "programs/memory/tasks/task_sizes.hpp"
#include "tally/core/base/text.hpp"

namespace tally::memory {
namespace {

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t largest_raw = 256 * kib;

Sizes doubling(std::uint64_t from, std::uint64_t to) {
  Sizes sizes;
  for (std::uint64_t size = from; size <= to; size *= 2) sizes.push_back(size);
  return sizes;
}

// By block and region.
template <class T>
using BySize = std::map<std::pair<std::uint64_t, std::uint64_t>, T>;

// ns per line of each pass.
struct Sweep {
  BySize<TimeInterval> write, read, raw;
};

Pass pass_of(const Plan& plan, const RegionAndBlock& size) {
  return {size.region_bytes,
          size.block_bytes,
          std::max(size.block_bytes, plan.stride_bytes),
          plan.working_set_bytes,
          plan.store,
          plan.load,
          plan.fence};
}

// The timings of one region and block.
struct SizeSamples {
  Pass pass;
  std::vector<MappingSample> write, read, raw;
  PassSample last;
};

int mappings_of(const Plan& plan, std::uint64_t region_bytes) {
  const int mappings = std::max(1, plan.mappings * 3 / 5);
  return region_bytes > costly_region ? std::min(mappings, costly_mappings) : mappings;
}

// Measures all sizes in one mapping, then in the next: if the time is over, fewer mappings are missing, but no size.
Result<void> measure_mappings(Runner& runner, const PassSelection& wanted, std::vector<SizeSamples>& sizes,
                              std::vector<double>& references) {
  double done = 0;
  double steps = 0;
  for (const SizeSamples& one : sizes) steps += mappings_of(runner.plan(), one.pass.region_bytes);
  for (int mapping = 0; mapping < mappings_of(runner.plan(), 0); ++mapping) {
    for (SizeSamples& one : sizes) {
      if (mapping >= mappings_of(runner.plan(), one.pass.region_bytes)) continue;
      if (runner.must_stop()) return {};
      runner.plan().progress(done++ / steps, "regions of " + size_text(one.pass.region_bytes));
      auto sample = run_passes(runner, one.pass, wanted);
      if (!sample) return fail(sample.error());
      references.push_back(sample->write.reference_ns);
      one.write.push_back(sample->write);
      one.read.push_back(sample->read);
      one.raw.push_back(sample->raw);
      one.last = *std::move(sample);
    }
  }
  return {};
}

// Adds the rows of one region and block.
void add_size(const Runner& runner, const SizeSamples& one, const PassSelection& wanted, result::Memory& result,
              Sweep& sweep) {
  if (one.write.empty()) return;
  const Pass& pass = one.pass;
  const auto add = [&](const char* quantity, const std::vector<MappingSample>& samples, auto& times) {
    result.points.push_back(pass_row(runner, pass, result.task, quantity, samples, one.last));
    const result::MemoryPoint& row = result.points.back();
    if (!row.ns) return;
    TimeInterval time{*row.ns, row.ns_low, row.ns_high};
    if (!row.flags.empty()) time.low_ns = time.high_ns = std::nullopt;  // unknown
    times[{pass.block_bytes, pass.region_bytes}] = time;
  };
  add("write", one.write, sweep.write);
  if (one.last.loop_ns > 0) {
    // Each write includes the cost of reading the order; this control shows when a region's order no longer fits a
    // cache.
    result.controls.push_back(
        {fmt::format("loop alone, {} in blocks of {}", size_text(pass.region_bytes), size_text(pass.block_bytes)),
         fmt::format("{:.2f} ns", one.last.loop_ns), one.last.loop_ns, "ns"});
  }
  if (wanted.read) add("read", one.read, sweep.read);
  if (wanted.raw) add("raw", one.raw, sweep.raw);
}

// Measures the requested regions and blocks, otherwise these.
Result<Sweep> sweep_over(Runner& runner, const Sizes& usual_regions, const Sizes& usual_blocks,
                         const PassSelection& wanted, result::Memory& result) {
  const auto pairs = regions_and_blocks(runner.plan(), usual_regions, usual_blocks);
  if (!pairs) return fail(pairs.error());
  const std::uint64_t working_set = runner.plan().working_set_bytes;
  std::vector<SizeSamples> sizes;
  for (const RegionAndBlock& pair : *pairs) {
    if (working_set > 0 && working_set < pair.region_bytes) {
      return fail(Code::bad_usage,
                  fmt::format("a working set of {} is smaller than a region of {}", size_text(working_set),
                              size_text(pair.region_bytes)),
                  "choose a larger --working-set, or smaller --regions");
    }
    sizes.push_back({pass_of(runner.plan(), pair), {}, {}, {}, {}});
  }
  std::vector<double> references;
  const auto measured = measure_mappings(runner, wanted, sizes, references);
  Sweep sweep;
  for (const SizeSamples& one : sizes) add_size(runner, one, wanted, result, sweep);
  judge(result, references);
  if (!measured) return fail(measured.error());
  return sweep;
}

Result<void> chase(Runner& runner, const PassSelection& wanted, result::Memory& result) {
  // Writing and reading a region is one batch, and batches must be short.
  const auto sweep = sweep_over(runner, doubling(64, wanted.raw ? largest_raw : 64 * mebibyte), {64}, wanted, result);
  if (!sweep) return fail(sweep.error());
  return {};
}

}  // namespace

Result<void> run_chase_write(Runner& runner, result::Memory& result) { return chase(runner, {}, result); }

Result<void> run_chase_read(Runner& runner, result::Memory& result) { return chase(runner, {.read = true}, result); }

Result<void> run_chase_raw(Runner& runner, result::Memory& result) { return chase(runner, {.raw = true}, result); }

namespace {

std::string forwarding_text(Forwarded forwarded) {
  switch (forwarded) {
    case Forwarded::yes:
      return "raw / (write + read) is below 0.9: data just written is served from above the level that the cold "
             "read visits, in regions of ";
    case Forwarded::no: return "raw / (write + read) is at least 0.9: nothing is forwarded, in regions of ";
    case Forwarded::undecided: break;
  }
  return "undecided, for the reason next to each: regions of ";
}

}  // namespace

Result<void> run_forward(Runner& runner, result::Memory& result) {
  const auto sweep = sweep_over(runner, doubling(4 * kib, largest_raw), {64}, {.read = true, .raw = true}, result);
  if (!sweep) return fail(sweep.error());
  std::map<Forwarded, std::vector<std::string>> sizes;
  for (const auto& [key, raw] : sweep->raw) {
    if (!sweep->read.contains(key) || !sweep->write.contains(key)) continue;
    const Forwarding one = forwarding(raw, sweep->write.at(key), sweep->read.at(key));
    result.statistics.emplace_back(
        fmt::format("forwarding, block {}, region {}", size_text(key.first), size_text(key.second)), one.share);
    result.ratios.push_back({"raw / (write + read)", key.second, key.first, one.share, one.low, one.high,
                             std::string(name(one.forwarded)), one.reason});
    sizes[one.forwarded].push_back(
        runner.plan().blocks.size() < 2
            ? size_text(key.second)
            : fmt::format("{} in blocks of {}", size_text(key.second), size_text(key.first)));
  }
  for (const auto& [forwarded, of] : sizes) result.findings.push_back(forwarding_text(forwarded) + join(of, ", "));
  return {};
}

Result<void> run_fence_fit(Runner& runner, result::Memory& result) {
  std::vector<std::uint64_t> regions;
  for (const std::uint64_t lines : {1, 2, 3, 4, 6, 8, 9, 12, 16, 32, 64}) regions.push_back(lines * 64);
  const std::vector<std::uint64_t> large{64 * kib, 256 * kib, mebibyte, 4 * mebibyte};
  auto all = regions;
  all.insert(all.end(), large.begin(), large.end());
  const auto sweep = sweep_over(runner, all, {64}, {}, result);
  if (!sweep) return fail(sweep.error());
  std::vector<SizeTime> small_times;
  std::vector<SizeTime> large_times;
  for (const auto& [key, ns] : sweep->write) {
    const SizeTime one{static_cast<double>(key.second), ns.ns};
    (key.second <= regions.back() ? small_times : large_times).push_back(one);
  }
  if (small_times.size() < 4 || result.verdict.contended) return {};
  const FenceFit fit = fit_fence(small_times, large_times);
  result.statistics = {{"fence_ns", fit.fence_ns},
                       {"line_ns", fit.line_ns},
                       {"floor_ns", fit.floor_ns},
                       {"crossing_bytes", fit.crossing_bytes}};
  result.findings.push_back(fmt::format("a region costs {:.0f} ns for {} and its waiting, and {:.2f} ns for each line",
                                        fit.fence_ns, runner.plan().fence->name, fit.line_ns));
  result.findings.push_back(fit.crossing_bytes > 0
                                ? fmt::format("the bandwidth limit, {:.1f} ns per line, begins at {:.0f} bytes: there "
                                              "two costs are equal, which is not a queue",
                                              fit.floor_ns, fit.crossing_bytes)
                                : std::string("no bandwidth limit apart from the cost of a line"));
  result.findings.emplace_back(fit.queue ? "queue: the residuals have a step above 3 sigma"
                                         : "no queue: the residuals have no step");
  return {};
}

namespace {

result::MemoryMap map_of(const char* name, const BySize<TimeInterval>& times) {
  result::MemoryMap map{name, "region", "block", true, true, "ns per line", {}};
  for (const auto& [key, ns] : times) {
    map.cells.push_back({static_cast<double>(key.second), static_cast<double>(key.first), ns.ns});
  }
  return map;
}

}  // namespace

Result<void> run_amplify(Runner& runner, result::Memory& result) {
  const Sizes regions = or_else(runner.plan().regions, {4 * kib, 16 * kib, mebibyte, 16 * mebibyte});
  const Sizes blocks = or_else(runner.plan().blocks, {64, 256, 512, kib, 2 * kib, 4 * kib});
  const auto sweep = sweep_over(runner, regions, blocks, {.read = true}, result);
  if (!sweep) return fail(sweep.error());
  result.maps = {map_of("Cold reads", sweep->read), map_of("Writes", sweep->write)};
  // The smaller region, in which every block size has a choice of blocks: 16 K in LENS's list and in the usual one.
  const auto near_region =
      std::find_if(regions.begin(), regions.end(), [&](std::uint64_t region) { return region >= 4 * blocks.back(); });
  if (near_region == regions.end() || *near_region == regions.back()) {
    result.findings.emplace_back(
        "no amplification: it compares the largest region with a smaller one that holds four of the largest blocks");
    return {};
  }
  std::vector<Amplification> amplifications;
  for (const std::uint64_t block : blocks) {
    const auto near = sweep->read.find({block, *near_region / block * block});
    const auto far = sweep->read.find({block, regions.back() / block * block});
    if (near == sweep->read.end() || far == sweep->read.end()) continue;
    amplifications.push_back({static_cast<double>(block), far->second.ns / near->second.ns});
    result.statistics.emplace_back(fmt::format("amplification, block {}", size_text(block)),
                                   amplifications.back().ratio);
  }
  if (result.verdict.contended || amplifications.empty()) return {};
  const auto entry = entry_size(amplifications);
  result.findings.push_back(
      entry ? fmt::format("from blocks of {} on, reads of regions of {} cost the same as of {}; task "
                          "ladder shows whether that is an entry or a prefetcher",
                          size_text(static_cast<std::uint64_t>(*entry)), size_text(regions.back()),
                          size_text(*near_region))
            : fmt::format("no block size makes regions of {} as fast as those of {}", size_text(regions.back()),
                          size_text(*near_region)));
  return {};
}

}  // namespace tally::memory
