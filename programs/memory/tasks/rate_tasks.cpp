// Bandwidth of contiguous, strided and random accesses.
#include <fmt/format.h>

#include <algorithm>

#include "programs/memory/analysis/size_text.hpp"
#include "programs/memory/rates.hpp"
#include "programs/memory/rows.hpp"
#include "programs/memory/tasks/task.hpp"
#include "programs/memory/tasks/task_sizes.hpp"

namespace tally::memory {
namespace {

// What each thread works in, and the bytes of an access, unless requested.
const Sizes usual_windows{64 * mebibyte};
const Sizes usual_accesses{64};

Order closed(Order order) {
  order.push_back(order.front());
  return order;
}

// Measures every operation with each of these patterns and numbers of threads.
Result<void> measure_all(Runner& runner, const std::vector<Stream>& patterns, const std::vector<int>& threads,
                         result::Memory& result) {
  const auto all = operations();
  const auto steps = static_cast<double>(patterns.size() * all.size() * threads.size());
  double done = 0;
  for (Stream stream : patterns) {
    for (const Operation& operation : all) {
      for (const int count : threads) {
        if (runner.must_stop()) break;
        runner.plan().progress(done++ / steps, std::string(operation.name));
        stream.operation = operation;
        stream.threads = count;
        auto row = measure_rate(runner, stream, result.task);
        if (!row) return fail(row.error());
        result.points.push_back(*std::move(row));
      }
    }
  }
  judge(result, {runner.reference_ns()});
  return {};
}

// 1, 2, 4 … and all processors.
std::vector<int> thread_counts(const Runner& runner) {
  const int most = static_cast<int>(runner.processors().size());
  std::vector<int> counts;
  for (int count = 1; count < most; count *= 2) counts.push_back(count);
  counts.push_back(most);
  return counts;
}

// The order of LENS's random accesses: a Galois shift register of 64 bits (taps 64, 63, 61, 60).
Order shift_register_order(std::uint64_t positions, std::uint64_t seed) {
  std::uint64_t state = seed == 0 ? 1 : seed;
  Order order(std::min<std::uint64_t>(positions, 1 << 20));
  for (std::uint32_t& position : order) {
    state = state >> 1 ^ ((state & 1) != 0 ? 0xD800'0000'0000'0000 : 0);
    position = static_cast<std::uint32_t>(state % positions);
  }
  return order;
}

// Accesses that are `stride` bytes apart, without their order.
Stream stream_of(const RegionAndBlock& size, std::uint64_t stride) {
  Stream stream;
  stream.access_bytes = size.block_bytes;
  stream.stride_bytes = std::max(stride, size.block_bytes);
  stream.window_bytes = std::max<std::uint64_t>(1, size.region_bytes / stream.stride_bytes) * stream.stride_bytes;
  return stream;
}

Stream forward_stream(const RegionAndBlock& size, std::uint64_t stride) {
  Stream stream = stream_of(size, stride);
  stream.order = closed(forward_ring(stream.window_bytes / stream.stride_bytes));
  stream.order_name = "forward";
  stream.is_contiguous = stream.stride_bytes == stream.access_bytes;
  return stream;
}

Stream random_stream(const RegionAndBlock& size, std::uint64_t stride, std::uint64_t seed) {
  Stream stream = stream_of(size, stride);
  stream.order = closed(shift_register_order(stream.window_bytes / stream.stride_bytes, seed));
  stream.order_name = "random";
  return stream;
}

void add_best_finding(result::Memory& result) {
  const result::MemoryPoint* best = nullptr;
  for (const auto& point : result.points) {
    if (point.mb_per_second && (best == nullptr || *point.mb_per_second > *best->mb_per_second)) best = &point;
  }
  if (best == nullptr) return;
  result.findings.push_back(fmt::format("highest: {:.0f} MB/s by {} with {} {}, in {}", *best->mb_per_second,
                                        best->quantity, best->threads, best->threads == 1 ? "thread" : "threads",
                                        size_text(best->region_bytes)));
}

}  // namespace

Result<void> run_seq_bw(Runner& runner, result::Memory& result) {
  const auto sizes = regions_and_blocks(runner.plan(), usual_windows, usual_accesses);
  if (!sizes) return fail(sizes.error());
  std::vector<Stream> patterns;
  for (const RegionAndBlock& size : *sizes) patterns.push_back(forward_stream(size, size.block_bytes));
  if (auto done = measure_all(runner, patterns, thread_counts(runner), result); !done) return done;
  add_best_finding(result);
  return {};
}

Result<void> run_stride_bw(Runner& runner, result::Memory& result) {
  const auto sizes = regions_and_blocks(runner.plan(), usual_windows, usual_accesses);
  if (!sizes) return fail(sizes.error());
  std::vector<Stream> patterns;
  for (const RegionAndBlock& size : *sizes) {
    if (runner.plan().stride_bytes > 0) {
      patterns.push_back(forward_stream(size, runner.plan().stride_bytes));
      continue;
    }
    const std::uint64_t last = std::max<std::uint64_t>(size.block_bytes, 4096);
    for (std::uint64_t stride = size.block_bytes; stride <= std::min(last, size.region_bytes); stride *= 2) {
      patterns.push_back(forward_stream(size, stride));
    }
  }
  return measure_all(runner, patterns, {1}, result);
}

Result<void> run_random_bw(Runner& runner, result::Memory& result) {
  const auto sizes = regions_and_blocks(runner.plan(), usual_windows, usual_accesses);
  if (!sizes) return fail(sizes.error());
  std::vector<Stream> patterns;
  for (const RegionAndBlock& size : *sizes) {
    patterns.push_back(random_stream(size, runner.plan().stride_bytes, runner.plan().seed));
  }
  if (auto done = measure_all(runner, patterns, thread_counts(runner), result); !done) return done;
  add_best_finding(result);
  return {};
}

}  // namespace tally::memory
