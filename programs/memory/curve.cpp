#include "programs/memory/curve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "programs/memory/reported.hpp"
#include "programs/memory/rows.hpp"
#include "programs/memory/statistics/timing_statistics.hpp"
#include "tally/core/base/text.hpp"
#include "tally/linux/machine/pages.hpp"

namespace tally::memory {
namespace {

// With a shared processor only whole laps are reliable. A settling lap and a timed lap must fit into one time slice,
// which is 3 ms or more.
constexpr double longest_settled_lap_ns = 1.2e6;
// Planting larger rings takes as long as many smaller points.
constexpr std::uint64_t costly_bytes = 16 << 20;

}  // namespace

CurveRun::CurveRun(Runner& runner, std::uint64_t pool_bytes)
    : runner_(&runner),
      shared_(held_range(known_caches(reported_caches(runner.processor())))),
      pool_bytes_(pool_bytes) {}

Result<void> CurveRun::measure(const std::vector<std::uint64_t>& sizes, int mappings, double from, double to,
                               double seconds) {
  const double end = runner_->seconds_left() - seconds;
  std::vector<std::uint64_t> visits;
  for (int i = 0; i < mappings; ++i) visits.insert(visits.end(), sizes.begin(), sizes.end());
  // Random order, so that a slow drift of the machine does not look like a slope of the curve.
  for (std::size_t i = visits.size(); i-- > 1;) std::swap(visits[i], visits[runner_->random().uniform(0, i)]);
  double done = 0;
  for (const std::uint64_t size : visits) {
    if (runner_->must_stop() || runner_->seconds_left() < end) return {};
    runner_->plan().progress(from + (to - from) * done++ / static_cast<double>(visits.size()),
                             "latency of " + bytes_text(static_cast<std::int64_t>(size)));
    const bool shared = runner_->waited_share() > waited_too_long;
    auto visit =
        runner_->visit({.blocks = size / line_bytes,
                        .stride_bytes = line_bytes,
                        .order = runner_->plan().order,
                        .group_blocks = linux::page_bytes() / line_bytes,
                        .pool_blocks = pool_bytes_ / line_bytes,
                        .longest_lap_ns = shared ? longest_settled_lap_ns : 0,
                        .count_from_memory = shared_.holds(size) || (pool_bytes_ > 0 && shared_.last_bytes > 0)});
    if (!visit) return fail(visit.error());
    Samples& samples = samples_[size];
    waited_share_ = runner_->waited_share();
    samples.pages_got = std::move(visit->pages_got);
    samples.mappings.push_back({std::move(visit->ns), visit->whole_laps, visit->rejected, visit->reference_ns,
                                visit->ghz, visit->reference_cycles, std::move(visit->counts), visit->settled,
                                visit->from_memory});
  }
  return {};
}

Result<void> CurveRun::again(double from, double to, double seconds) {
  constexpr std::size_t chances = 3;
  const double end = runner_->seconds_left() - seconds;
  while (!runner_->must_stop() && runner_->seconds_left() > end) {
    std::vector<std::uint64_t> sizes;
    for (const auto& [size, summary] : summaries()) {
      const bool exhausted =
          samples_[size].mappings.size() >= chances * static_cast<std::size_t>(runner_->plan().mappings);
      const bool held = size <= costly_bytes && is_held({size, summary.from_memory.value_or(0)});
      if ((held || !summary.flags.empty()) && !exhausted) sizes.push_back(size);
    }
    if (sizes.empty()) return {};
    auto measured = measure(sizes, 1, from, to, runner_->seconds_left() - end);
    if (!measured) return measured;
  }
  return {};
}

std::map<std::uint64_t, PointSummary> CurveRun::summaries() const {
  std::map<std::uint64_t, PointSummary> all;
  // Not the minimum: it occurs when the clock changed between the two timings that it combines.
  std::vector<double> references;
  for (const auto& [size, samples] : samples_) {
    for (const MappingSample& one : samples.mappings) references.push_back(one.reference_cycles);
  }
  const Surroundings run{quantile(std::move(references), 0.05), waited_share_};
  for (const auto& [size, samples] : samples_) all[size] = summarize_point(samples.mappings, run);
  const PointSummary* before = nullptr;
  for (auto at = all.begin(); at != all.end(); ++at) {
    const auto next = std::next(at);
    if (before != nullptr && next != all.end()) {
      const std::string flag = neighbour_flag(before->ns, at->second.ns, next->second.ns);
      if (!flag.empty()) {
        at->second.flags.push_back(flag);
        at->second.why = "slower than both neighbours";
      }
    }
    before = &at->second;
  }
  return all;
}

Curve CurveRun::curve() const {
  Curve curve;
  for (const auto& [size, summary] : summaries()) {
    const auto& mappings = samples_.at(size).mappings;
    CurvePoint point{static_cast<double>(size), summary.ns, !summary.flags.empty(), {}, summary.why};
    point.quiet_share = static_cast<double>(summary.quiet.size()) / static_cast<double>(mappings.size());
    point.counts = summary.counts;
    double rejected = 0;
    for (const std::size_t index : summary.quiet) {
      point.mappings.push_back(mappings[index].ns);
      rejected += static_cast<double>(mappings[index].rejected);
    }
    if (summary.batches > 0) point.rejected_share = rejected / (rejected + static_cast<double>(summary.batches));
    curve.push_back(std::move(point));
  }
  return curve;
}

std::vector<result::MemoryPoint> CurveRun::rows() const {
  std::vector<result::MemoryPoint> rows;
  for (const auto& [size, summary] : summaries()) {
    result::MemoryPoint row;
    row.task = pool_bytes_ > 0 ? "scattered" : "curve";
    row.quantity = "load";
    row.mode = "lap";
    row.order = name(runner_->plan().order);
    row.region_bytes = size;
    row.block_bytes = row.stride_bytes = line_bytes;
    row.count = size / line_bytes;
    row.pages_asked = runner_->plan().file.empty() ? name(runner_->plan().pages) : "file";
    row.pages_got = samples_.at(size).pages_got;
    row.load = "scalar";
    row.seed = runner_->plan().seed;
    row.mappings = static_cast<std::int64_t>(samples_.at(size).mappings.size());
    row.from_memory = summary.from_memory;
    row.mappings_kept = static_cast<std::int64_t>(summary.quiet.size());
    set_timing(row, summary);
    rows.push_back(std::move(row));
  }
  return rows;
}

RunVerdict CurveRun::verdict() const {
  std::vector<double> references;
  for (const auto& [size, samples] : samples_) {
    for (const MappingSample& one : samples.mappings) references.push_back(one.reference_ns);
  }
  // Only sizes that again() measures repeatedly.
  auto sizes = held_sizes();
  std::erase_if(sizes, [](const HeldSize& one) { return one.bytes > costly_bytes; });
  return judge_held(judge_run(samples_.size(), flagged(), references, waited_share_), sizes, samples_.size());
}

std::size_t CurveRun::flagged() const {
  const auto all = summaries();
  return static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [](const auto& one) { return !one.second.flags.empty(); }));
}

std::vector<HeldSize> CurveRun::held_sizes() const {
  std::vector<HeldSize> sizes;
  for (const auto& [size, summary] : summaries()) {
    const bool by_others = summary.why.empty() || summary.why == cache_shared || summary.why == mappings_differ;
    if (summary.from_memory && by_others) sizes.push_back({size, *summary.from_memory});
  }
  return sizes;
}

std::int64_t CurveRun::batches() const {
  std::int64_t sum = 0;
  for (const auto& [size, samples] : samples_) {
    for (const MappingSample& one : samples.mappings) sum += static_cast<std::int64_t>(one.ns.size());
  }
  return sum;
}

std::int64_t CurveRun::rejected() const {
  std::int64_t sum = 0;
  for (const auto& [size, samples] : samples_) {
    for (const MappingSample& one : samples.mappings) sum += one.rejected;
  }
  return sum;
}

double CurveRun::ghz() const {
  std::vector<double> all;
  for (const auto& [size, samples] : samples_) {
    for (const MappingSample& one : samples.mappings) all.push_back(one.ghz);
  }
  return median(std::move(all));
}

std::string CurveRun::pages_got() const {
  return samples_.empty() ? std::string() : samples_.begin()->second.pages_got;
}

}  // namespace tally::memory
