#include "programs/memory/rates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <optional>
#include <thread>

#include "programs/memory/statistics/timing_statistics.hpp"
#include "tally/linux/process/conditions.hpp"

namespace tally::memory {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr std::chrono::milliseconds slice_time(1);
// Long compared to reading the clock, short compared to a slice.
constexpr std::uint64_t chunk_bytes = 64 << 10;

std::uint64_t bytes_of(const Chain& chain) {
  return static_cast<std::uint64_t>(chain.blocks) * static_cast<std::uint64_t>(chain.lines) * 64;
}

// The next chunk of the order, starting at index `at`; the last entry of the order closes it.
Chain next_chunk(const Stream& stream, std::byte* base, std::size_t& at) {
  const std::size_t last = stream.order.size() - 1;
  const std::size_t chunk_blocks = std::max<std::uint64_t>(1, chunk_bytes / stream.access_bytes);
  const std::size_t blocks = std::min(chunk_blocks, last - at);
  // Blocks that follow each other are one block, as in a plain loop: reading their order would take as long as they do.
  const bool is_whole = stream.is_contiguous;
  const Chain chain{base, stream.order.data() + at, Blocks{is_whole ? 1 : blocks}, Bytes{stream.stride_bytes},
                    Lines{(is_whole ? blocks : 1) * stream.access_bytes / 64}};
  at = at + blocks == last ? 0 : at + blocks;
  return chain;
}

// What `work` moves per second in each slice; empty for a slice in which the thread lost its processor. `work` runs for
// much longer than reading the clock takes, and returns what it moved.
std::vector<std::optional<double>> slices_of(const std::function<std::uint64_t()>& work, int slices) {
  const linux::Watch watch;
  std::vector<std::optional<double>> rates;
  for (int i = 0; i < slices; ++i) {
    const linux::Disturbance before = watch.now();
    const auto start = Clock::now();
    std::uint64_t moved = 0;
    Clock::duration passed{};
    do {
      moved += work();
      passed = Clock::now() - start;
    } while (passed < slice_time);
    const bool undisturbed = watch.now() == before;
    rates.push_back(undisturbed ? std::optional(static_cast<double>(moved) / Seconds(passed).count()) : std::nullopt);
  }
  return rates;
}

}  // namespace

void stream_until(const Stream& stream, std::byte* base, const std::atomic<bool>& stop,
                  std::atomic<std::uint64_t>& moved, std::uint64_t pause_adds) {
  std::size_t at = 0;
  while (!stop.load(std::memory_order_relaxed)) {
    const Chain chain = next_chunk(stream, base, at);
    stream.operation.run(chain);
    moved.fetch_add(bytes_of(chain), std::memory_order_relaxed);
    if (pause_adds > 0) (void)adds(pause_adds);
  }
}

std::vector<double> rates_together(const Runner& runner, int threads, int slices,
                                   const std::function<std::uint64_t(std::size_t thread)>& work) {
  const auto& processors = runner.processors();
  std::vector<std::vector<std::optional<double>>> rates(static_cast<std::size_t>(threads));
  std::barrier start_barrier(threads);
  const auto measure = [&](std::size_t thread) {
    start_barrier.arrive_and_wait();
    rates[thread] = slices_of([&] { return work(thread); }, slices);
  };
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < rates.size(); ++i) {
    others.emplace_back([&, i] {
      (void)linux::stay_on(processors[i]);
      measure(i);
    });
  }
  measure(0);
  others.clear();
  std::vector<double> sums;
  for (std::size_t slice = 0; slice < static_cast<std::size_t>(slices); ++slice) {
    double sum = 0;
    bool whole = true;
    for (const auto& one : rates) {
      whole = whole && one[slice].has_value();
      sum += one[slice].value_or(0);
    }
    if (whole) sums.push_back(sum);
  }
  return sums;
}

std::vector<double> stream_rates(const Runner& runner, const Stream& stream, const std::vector<linux::Area>& areas,
                                 int slices) {
  std::vector<Position> positions(areas.size());
  return rates_together(runner, static_cast<int>(areas.size()), slices, [&](std::size_t thread) {
    std::uint64_t bytes = 0;
    while (bytes < bytes_between_clocks) {
      const Chain chain = next_chunk(stream, areas[thread].data(), positions[thread].at);
      stream.operation.run(chain);
      bytes += bytes_of(chain);
    }
    return bytes;
  });
}

Result<result::MemoryPoint> measure_rate(Runner& runner, const Stream& stream, const std::string& task) {
  std::vector<linux::Area> areas;
  for (int i = 0; i < stream.threads; ++i) {
    auto area = runner.fresh(stream.window_bytes, {}, stream.node);
    if (!area) return fail(area.error());
    areas.push_back(*std::move(area));
  }
  const int slices = std::max(1, runner.plan().mappings * runner.plan().batches);
  const std::vector<double> sums = stream_rates(runner, stream, areas, slices);
  result::MemoryPoint row;
  row.task = task;
  row.quantity = stream.operation.name;
  row.mode = "bandwidth";
  row.order = stream.order_name;
  row.region_bytes = stream.window_bytes;
  row.block_bytes = stream.access_bytes;
  row.stride_bytes = stream.stride_bytes;
  row.count = stream.order.size() - 1;
  row.pages_asked = name(runner.plan().pages);
  row.pages_got = areas.front().got();
  row.threads = stream.threads;
  if (stream.operation.store != nullptr) row.store = stream.operation.store->name;
  if (stream.operation.load != nullptr) row.load = stream.operation.load->name;
  row.seed = runner.plan().seed;
  row.mappings = 1;
  row.batches = static_cast<std::int64_t>(sums.size());
  row.rejected = slices - row.batches;
  if (row.rejected * 4 > slices) row.flags.push_back(fmt::format("{} of {} slices rejected", row.rejected, slices));
  if (!sums.empty()) {
    row.mb_per_second = median(sums) / 1e6;
    const double spread = quantile(sums, 0.975) / quantile(sums, 0.025);
    if (spread > 1.25) row.flags.push_back(fmt::format("slices differ by {:.0f} %", 100 * (spread - 1)));
  }
  return row;
}

}  // namespace tally::memory
