#include "tally/memory/curve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tally/base/text.hpp"
#include "tally/memory/analysis/statistics.hpp"
#include "tally/memory/rows.hpp"

namespace tally::memory {
namespace {

constexpr std::uint64_t line_bytes = 64;

}  // namespace

Result<void> CurveRun::measure(const std::vector<std::uint64_t>& sizes, int mappings, double from, double to,
                               double seconds) {
  const double end = runner_->seconds_left() - seconds;
  std::vector<std::uint64_t> visits;
  for (int i = 0; i < mappings; ++i) visits.insert(visits.end(), sizes.begin(), sizes.end());
  // Interleaved, so that a slow drift of the machine is not read as a slope of the curve.
  for (std::size_t i = visits.size(); i-- > 1;) std::swap(visits[i], visits[runner_->random().uniform(0, i)]);
  double done = 0;
  for (const std::uint64_t size : visits) {
    if (runner_->must_stop() || runner_->seconds_left() < end) return {};
    runner_->plan().progress(from + (to - from) * done++ / static_cast<double>(visits.size()),
                             "latency of " + bytes_text(static_cast<std::int64_t>(size)));
    auto visit = runner_->visit({.blocks = size / line_bytes, .stride_bytes = line_bytes});
    if (!visit) return fail(visit.error());
    Samples& samples = samples_[size];
    samples.pages_got = std::move(visit->pages_got);
    samples.mappings.push_back(
        {std::move(visit->ns), visit->whole_laps, visit->rejected, visit->reference_ns, visit->ghz});
  }
  return {};
}

Result<void> CurveRun::again(double from, double to, double seconds) {
  std::vector<std::uint64_t> sizes;
  std::size_t mappings = 1;
  for (const auto& [size, summary] : summaries()) {
    if (summary.flags.empty()) continue;
    mappings = std::max(mappings, samples_[size].mappings.size());
    sizes.push_back(size);
  }
  std::map<std::uint64_t, Samples> before;
  for (const std::uint64_t size : sizes) before[size] = std::exchange(samples_[size], {});
  auto measured = measure(sizes, static_cast<int>(mappings), from, to, seconds);
  // What there was no time for stays as it was.
  for (const std::uint64_t size : sizes) {
    if (samples_[size].mappings.size() < before[size].mappings.size()) samples_[size] = std::move(before[size]);
  }
  return measured;
}

std::map<std::uint64_t, PointSummary> CurveRun::summaries() const {
  std::map<std::uint64_t, PointSummary> all;
  double best = 0;
  for (const auto& [size, samples] : samples_) {
    all[size] = summarize_point(samples.mappings);
    for (const MappingSample& one : samples.mappings) {
      if (best == 0 || one.reference_ns < best) best = one.reference_ns;
    }
  }
  const PointSummary* before = nullptr;
  for (auto at = all.begin(); at != all.end(); ++at) {
    const auto next = std::next(at);
    if (const std::string flag = reference_flag(at->second, best); !flag.empty()) at->second.flags.push_back(flag);
    if (before != nullptr && next != all.end()) {
      const std::string flag = neighbour_flag(before->ns, at->second.ns, next->second.ns);
      if (!flag.empty()) at->second.flags.push_back(flag);
    }
    before = &at->second;
  }
  return all;
}

Curve CurveRun::curve() const {
  Curve curve;
  for (const auto& [size, summary] : summaries()) {
    CurvePoint point{static_cast<double>(size), summary.ns, !summary.flags.empty(), {}};
    for (const MappingSample& one : samples_.at(size).mappings) {
      if (!one.ns.empty()) point.mappings.push_back(one.ns);
    }
    curve.push_back(std::move(point));
  }
  return curve;
}

std::vector<result::MemoryPoint> CurveRun::rows() const {
  std::vector<result::MemoryPoint> rows;
  for (const auto& [size, summary] : summaries()) {
    result::MemoryPoint row;
    row.task = "curve";
    row.quantity = "load";
    row.mode = "lap";
    row.order = name(OrderKind::random);
    row.region_bytes = size;
    row.block_bytes = row.stride_bytes = line_bytes;
    row.count = size / line_bytes;
    row.pages_asked = runner_->plan().file.empty() ? name(runner_->plan().pages) : "file";
    row.pages_got = samples_.at(size).pages_got;
    row.load = "scalar";
    row.seed = runner_->plan().seed;
    set_timing(row, samples_.at(size).mappings);
    row.flags = summary.flags;
    rows.push_back(std::move(row));
  }
  return rows;
}

RunVerdict CurveRun::verdict() const {
  std::vector<double> references;
  for (const auto& [size, samples] : samples_) {
    for (const MappingSample& one : samples.mappings) references.push_back(one.reference_ns);
  }
  return judge_run(samples_.size(), flagged(), references);
}

std::size_t CurveRun::flagged() const {
  const auto all = summaries();
  return static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [](const auto& one) { return !one.second.flags.empty(); }));
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
