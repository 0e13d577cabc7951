// The ceilings of a roofline: what one processor and all processors together reach.
#include <fmt/format.h>

#include <algorithm>

#include "programs/memory/kernels/peaks.hpp"
#include "programs/memory/rates.hpp"
#include "programs/memory/reported.hpp"
#include "programs/memory/statistics/timing_statistics.hpp"
#include "programs/memory/tasks/task.hpp"
#include "programs/memory/tasks/task_sizes.hpp"

namespace tally::memory {
namespace {

using result::Ceiling;

// The memory that each thread works in, and the level that serves it.
struct Level {
  std::string name;
  std::uint64_t bytes = 0;
};

// Other programs and the host use a part of a shared level: half of this thread's share, at most eight times the level
// before it.
std::uint64_t shared_bytes(std::uint64_t bytes, std::uint64_t before, int threads) {
  return std::clamp(bytes / 2 / static_cast<std::uint64_t>(threads), 2 * before, 8 * before);
}

Result<std::vector<Level>> levels_for(const Runner& runner, int threads) {
  std::vector<Level> levels;
  std::uint64_t before = mebibyte;
  for (const ReportedCache& cache : reported_caches(runner.processor())) {
    const auto bytes = static_cast<std::uint64_t>(cache.bytes);
    // Longer arrays make the ends of loops cheaper; in L2, the sets of its pages are not equally full.
    const std::uint64_t own = cache.level == 1 ? bytes / 4 * 3 : bytes / 2;
    levels.push_back({fmt::format("L{}", cache.level), cache.shared ? shared_bytes(bytes, before, threads) : own});
    before = bytes;
  }
  const auto last = last_size(runner);
  if (!last) return fail(last.error());
  levels.push_back({"DRAM", std::max(costly_region, *last / static_cast<std::uint64_t>(threads))});
  return levels;
}

// Arrays of a triad in an area: not a multiple of 4 KiB apart, where a load waits for a store to the other array.
std::uint64_t triad_array(std::uint64_t bytes) {
  constexpr std::uint64_t page = 4096;
  constexpr std::uint64_t apart = 1280;
  return bytes / 3 / page * page + apart;
}

bool varies(const Ceiling& ceiling) {
  constexpr double much_percent = 20;
  return ceiling.spread_percent > much_percent;
}

// Measures until enough slices were undisturbed. Counts what it rejected.
class Slices {
 public:
  explicit Slices(result::Memory& result) : result_(result) {}

  std::vector<double> collect(const std::function<std::vector<double>(int slices)>& measure) {
    constexpr int slices = 40;
    constexpr std::size_t enough = 30;
    std::vector<double> all;
    for (int round = 0; round < 4 && all.size() < enough; ++round) {
      const std::vector<double> some = measure(slices);
      all.insert(all.end(), some.begin(), some.end());
      tried_ += slices;
    }
    accepted_ += all.size();
    result_.verdict.rejected_percent = 100.0 - 100.0 * static_cast<double>(accepted_) / static_cast<double>(tried_);
    return all;
  }

 private:
  result::Memory& result_;
  std::size_t tried_ = 0, accepted_ = 0;
};

// Nothing makes a loop faster than the machine, and other programs make it slower.
void add_ceiling(std::vector<Ceiling>& ceilings, Ceiling ceiling, const std::vector<double>& rates) {
  if (rates.empty()) return;
  ceiling.per_second = quantile(rates, 0.9);
  ceiling.spread_percent = 100 * (1 - quantile(rates, 0.1) / ceiling.per_second);
  ceilings.push_back(std::move(ceiling));
}

Result<std::vector<linux::Area>> areas_of(const Runner& runner, std::uint64_t bytes, int threads) {
  std::vector<linux::Area> areas;
  for (int i = 0; i < threads; ++i) {
    auto area = runner.fresh(bytes);
    if (!area) return fail(area.error());
    // A fresh page has a byte that is not 0: a denormal number, which slows down the triads.
    std::fill_n(area->data(), bytes, std::byte{0});
    areas.push_back(*std::move(area));
  }
  return areas;
}

std::vector<double> triad_rates(const Runner& runner, const TriadKernel& triad, const std::vector<linux::Area>& areas,
                                std::uint64_t array, int slices) {
  std::vector<Position> positions(areas.size());
  return rates_together(runner, static_cast<int>(areas.size()), slices, [&](std::size_t thread) {
    std::byte* const base = areas[thread].data();
    std::uint64_t& at = positions[thread].at;
    std::uint64_t bytes = 0;
    while (bytes < bytes_between_clocks) {
      const std::uint64_t length = std::min(array - at, bytes_between_clocks / 4);
      std::byte* const a = base + at;
      triad.run(a, a + array, a + 2 * array, length);
      at += length;
      if (at == array) at = 0;
      bytes += 3 * length;
    }
    return bytes;
  });
}

// The fastest one of loads alone and of triads: the first level serves loads and stores together, memory also reads the
// lines that are stored.
Result<void> add_bandwidth(const Runner& runner, const Level& level, int threads, Slices& slices,
                           result::Memory& result) {
  const std::uint64_t array = triad_array(level.bytes);
  const auto areas = areas_of(runner, std::max(level.bytes, 3 * array), threads);
  if (!areas) return fail(areas.error());
  Stream loads;
  loads.operation = operations().front();
  loads.order = forward_ring(level.bytes / loads.stride_bytes);
  loads.order.push_back(loads.order.front());
  loads.is_contiguous = true;
  std::vector<Ceiling> all;
  const Ceiling ceiling{.of = level.name, .processors = threads};
  add_ceiling(all, ceiling, slices.collect([&](int n) { return stream_rates(runner, loads, *areas, n); }));
  for (const TriadKernel& triad : triad_kernels())
    if (triad.present())
      add_ceiling(all, ceiling, slices.collect([&](int n) { return triad_rates(runner, triad, *areas, array, n); }));
  const auto best = std::max_element(all.begin(), all.end(),
                                     [](const Ceiling& a, const Ceiling& b) { return a.per_second < b.per_second; });
  if (best != all.end()) result.ceilings.bandwidths.push_back(*best);
  return {};
}

void add_peak(const Runner& runner, const PeakKernel& kernel, int threads, Slices& slices, result::Memory& result) {
  constexpr std::uint64_t rounds = 2000;  // some 3 µs
  const auto work = [&](std::size_t) {
    kernel.run(rounds);
    return rounds * static_cast<std::uint64_t>(kernel.operations);
  };
  add_ceiling(result.ceilings.peaks, {.of = std::string(kernel.precision), .bits = kernel.bits, .processors = threads},
              slices.collect([&](int n) { return rates_together(runner, threads, n, work); }));
}

}  // namespace

Result<void> run_ceilings(Runner& runner, result::Memory& result) {
  const int all = static_cast<int>(runner.processors().size());
  std::vector<int> counts{1};
  if (all > 1) counts.push_back(all);
  Slices slices(result);
  double done = 0;
  for (const int threads : counts) {
    const auto levels = levels_for(runner, threads);
    if (!levels) return fail(levels.error());
    const std::size_t steps = levels->size() + peak_kernels().size();
    const auto go_on = [&](const std::string& name) {
      runner.plan().progress(done++ / static_cast<double>(steps * counts.size()), name);
      return !runner.must_stop();
    };
    for (const Level& level : *levels) {
      if (!go_on(level.name)) break;
      if (auto added = add_bandwidth(runner, level, threads, slices, result); !added) return added;
    }
    for (const PeakKernel& kernel : peak_kernels())
      if (kernel.present() && go_on(std::string(kernel.precision))) add_peak(runner, kernel, threads, slices, result);
  }
  for (const auto* list : {&result.ceilings.bandwidths, &result.ceilings.peaks}) {
    result.verdict.points += std::ssize(*list);
    result.verdict.flagged += std::count_if(list->begin(), list->end(), varies);
  }
  result.complete = !runner.must_stop();
  return {};
}

}  // namespace tally::memory
