#include "programs/memory/controls.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "programs/memory/statistics/timing_statistics.hpp"
#include "tally/linux/machine/pages.hpp"

namespace tally::memory {
namespace {

// Enough to decide between two latencies; a map needs some 100 walks.
constexpr Walk short_walk{5, 50'000};

// ns per step of `n` lines at a stride, in random order: the minimum of several walks, as soon as two agree. Other work
// on the machine only makes walks slower.
double time_lines(Runner& runner, std::byte* base, std::uint64_t n, std::uint64_t stride) {
  constexpr int most_walks = 6;
  double least = 0;
  for (int walk = 0; walk < most_walks; ++walk) {
    plant(base, random_ring(n, runner.random()), stride);
    const double ns = median(runner.walk(base, n, short_walk).ns);
    if (ns <= 0) continue;
    if (least > 0 && std::abs(ns / least - 1) < 0.03) return std::min(ns, least);
    least = least > 0 ? std::min(ns, least) : ns;
  }
  return least;
}

// The largest n ≤ `most` for which fits(n), assuming that it is true for smaller ones; 0 if fits(1) is false.
template <class Fits>
std::uint64_t largest(std::uint64_t most, Fits fits) {
  std::uint64_t good = 0;
  std::uint64_t bad = 0;
  for (std::uint64_t n = 4; bad == 0 && good < most; n = std::min(2 * n, most)) {
    if (fits(n)) {
      good = n;
    } else {
      bad = n;
    }
  }
  if (bad == 0) return most;
  while (bad - good > 1) {
    const std::uint64_t middle = (good + bad) / 2;
    (fits(middle) ? good : bad) = middle;
  }
  return good;
}

std::uint64_t middle_of(std::vector<double> counts) { return static_cast<std::uint64_t>(median(std::move(counts))); }

}  // namespace

Result<std::vector<Rung>> ladder(Runner& runner, linux::PageKind pages, int mappings) {
  constexpr std::uint64_t lines = 16384;
  std::vector<Rung> rungs;
  for (const std::uint64_t stride : {64, 128, 192, 256, 512, 4096}) {
    Rung rung{stride, 0, 0, 0, ""};
    std::vector<double> medians;
    for (int i = 0; i < mappings && !runner.must_stop(); ++i) {
      const auto visit = runner.visit_once({.blocks = lines, .stride_bytes = stride, .pages = pages});
      if (!visit) return fail(visit.error());
      rung.rejected += visit->rejected;
      rung.batches += static_cast<std::int64_t>(visit->ns.size());
      rung.pages_got = visit->pages_got;
      if (!visit->ns.empty()) medians.push_back(median(visit->ns));
    }
    rung.ns = median(std::move(medians));
    if (rung.batches > 0) rungs.push_back(std::move(rung));
  }
  return rungs;
}

Result<std::vector<HitCount>> hit_counts(Runner& runner, double hit_ns, double miss_ns, std::uint64_t widest,
                                         int mappings) {
  constexpr std::uint64_t area_bytes = 32 << 20;
  // Strides that disagree with the others are measured up to this many times as often: another thread of the core can
  // make them too small for seconds.
  constexpr int chances = 4;
  const double limit = hit_ns + 0.1 * (miss_ns - hit_ns);
  std::vector<HitCount> hits;
  for (std::uint64_t stride = line_bytes; stride <= widest; stride *= 2) hits.push_back({stride, 0});
  // Keeps the maximum of all mappings: another thread of the core evicts lines, and adds none.
  const auto count = [&](const std::vector<std::uint64_t>& strides) -> Result<void> {
    auto area = runner.fresh(area_bytes);
    if (!area) return fail(area.error());
    for (HitCount& one : hits) {
      if (runner.must_stop()) break;
      if (std::find(strides.begin(), strides.end(), one.stride_bytes) == strides.end()) continue;
      const std::uint64_t most = std::min<std::uint64_t>(area_bytes / one.stride_bytes, 1 << 14);
      const std::uint64_t lines = largest(
          most, [&](std::uint64_t n) { return time_lines(runner, area->data(), n, one.stride_bytes) <= limit; });
      one.lines = std::max(one.lines, lines);
    }
    return {};
  };
  for (int i = 0; i < chances * mappings && !runner.must_stop(); ++i) {
    if (i >= mappings && std::has_single_bit(hits.back().stride_bytes)) {
      for (const std::uint64_t stride : witness_strides(hits)) hits.push_back({stride, 0});
    }
    const auto strides = disturbed_strides(hits, line_bytes);
    if (i >= mappings && strides.empty()) break;
    std::vector<std::uint64_t> all;
    for (const HitCount& one : hits) all.push_back(one.stride_bytes);
    if (auto counted = count(i < mappings ? all : strides); !counted) return fail(counted.error());
  }
  std::erase_if(hits, [](const HitCount& one) { return one.lines == 0; });
  return hits;
}

Result<TlbHits> tlb_hits(Runner& runner, linux::PageKind pages, int mappings) {
  constexpr std::uint64_t area_bytes = 48 << 20;
  constexpr int doublings = 6;
  const std::uint64_t page = linux::page_bytes();
  std::vector<std::vector<std::uint64_t>> counts(doublings);
  std::vector<double> penalties;
  std::vector<double> second_counts;
  std::vector<double> second_penalties;
  TlbHits result;
  for (int i = 0; i < mappings && !runner.must_stop(); ++i) {
    auto area = runner.fresh(area_bytes, pages);
    if (!area) return fail(area.error());
    result.pages_got = area->got();
    // A miss costs some cycles; the clocks of the two walks differ by less than one.
    const double margin = 1.5 / runner.core_ghz();
    const auto extra = [&](std::uint64_t n, std::uint64_t pitch) {
      const double spread = time_lines(runner, area->data(), n, pitch);
      return spread - time_lines(runner, area->data(), n, line_bytes);
    };
    for (int k = 0; k < doublings && !runner.must_stop(); ++k) {
      const std::uint64_t pitch = (page << k) + line_bytes;
      const std::uint64_t most = std::min<std::uint64_t>(area_bytes / pitch, 2048);
      const std::uint64_t n = largest(most, [&](std::uint64_t lines) { return extra(lines, pitch) <= margin; });
      counts[static_cast<std::size_t>(k)].push_back(n);
      if (k > 0 || n >= most) continue;
      const double penalty = extra(2 * n, pitch);
      penalties.push_back(penalty);
      const std::uint64_t farthest = area_bytes / pitch;
      const std::uint64_t second =
          largest(farthest, [&](std::uint64_t lines) { return extra(lines, pitch) <= 2 * penalty + 2 * margin; });
      if (second <= 2 * n || second >= farthest) continue;
      second_counts.push_back(static_cast<double>(second));
      second_penalties.push_back(extra(std::min(farthest, second * 3 / 2), pitch) - penalty);
    }
  }
  for (int k = 0; k < doublings; ++k) {
    const auto& found_counts = counts[static_cast<std::size_t>(k)];
    if (found_counts.empty()) continue;
    const std::uint64_t lines = found_again(found_counts);
    result.hits.push_back({(page << k) + line_bytes, lines});
    const auto as_many = [&](std::uint64_t one) { return one >= lines && one * 50 <= lines * 51; };
    result.again = result.again && std::count_if(found_counts.begin(), found_counts.end(), as_many) > 1;
  }
  result.penalty_ns = median(penalties);
  if (second_counts.size() * 2 > static_cast<std::size_t>(mappings)) {
    result.second_entries = middle_of(second_counts);
    result.second_penalty_ns = median(second_penalties);
  }
  return result;
}

Result<std::vector<PairTime>> pair_times(Runner& runner, std::uint64_t region_bytes) {
  constexpr std::uint64_t group_bytes = 512;
  auto area = runner.fresh(region_bytes);
  if (!area) return fail(area.error());
  std::vector<PairTime> pairs;
  for (const std::uint64_t distance : {8, 16, 32, 64, 128, 256}) pairs.push_back({distance, 0});
  // The minimum of three rounds: another thread of the core only makes them slower.
  for (int round = 0; round < 3; ++round) {
    for (PairTime& pair : pairs) {
      std::vector<std::uint64_t> chain;
      for (const std::uint32_t group : random_ring(region_bytes / group_bytes, runner.random())) {
        // Backwards, because prefetchers fetch the next line.
        chain.push_back(group * group_bytes + pair.distance_bytes);
        chain.push_back(group * group_bytes);
      }
      // walk() starts at offset 0, which the chain contains: it is the second word of group 0.
      plant_chain(area->data(), chain);
      const auto walked = runner.walk(area->data(), chain.size(), short_walk).ns;
      if (walked.empty()) continue;
      pair.ns = pair.ns == 0 ? median(walked) : std::min(pair.ns, median(walked));
    }
  }
  return pairs;
}

}  // namespace tally::memory
