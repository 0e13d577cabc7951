// Bandwidth of contiguous, strided and random accesses.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "tally/tools/memory/rates.hpp"
#include "tally/tools/memory/rows.hpp"
#include "tally/tools/memory/tasks/task.hpp"

namespace tally::memory {
namespace {

constexpr std::uint64_t window = 64 * mib;

std::uint64_t window_of(const Runner& runner) {
  return runner.plan().regions.empty() ? window : runner.plan().regions.back();
}

std::uint64_t access_of(const Runner& runner) {
  return runner.plan().blocks.empty() ? 64 : runner.plan().blocks.front();
}

Order closed(Order order) {
  order.push_back(order.front());
  return order;
}

// Measures every operation with one stream pattern and these numbers of threads.
Result<void> measure_all(Runner& runner, Stream stream, const std::vector<int>& threads, double from, double to,
                         result::Memory& result) {
  const auto all = operations();
  const double steps = static_cast<double>(all.size() * threads.size());
  double done = 0;
  for (const Operation& operation : all) {
    for (const int count : threads) {
      if (runner.must_stop()) return {};
      runner.plan().progress(from + (to - from) * done++ / steps, std::string(operation.name));
      stream.operation = operation;
      stream.threads = count;
      auto row = measure_rate(runner, stream, result.task);
      if (!row) return fail(row.error());
      result.points.push_back(*std::move(row));
    }
  }
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
    position = static_cast<std::uint32_t>(state & (positions - 1));
  }
  return order;
}

void add_best_finding(result::Memory& result) {
  const result::MemoryPoint* best = nullptr;
  for (const auto& point : result.points) {
    if (point.mb_per_second && (best == nullptr || *point.mb_per_second > *best->mb_per_second)) best = &point;
  }
  if (best == nullptr) return;
  result.findings.push_back(fmt::format("highest: {:.0f} MB/s by {} with {} {}", *best->mb_per_second, best->quantity,
                                        best->threads, best->threads == 1 ? "thread" : "threads"));
}

}  // namespace

Result<void> run_seq_bw(Runner& runner, result::Memory& result) {
  Stream stream;
  stream.access_bytes = stream.stride_bytes = std::max<std::uint64_t>(access_of(runner), 64);
  stream.window_bytes = window_of(runner);
  stream.order = closed(forward_ring(std::max<std::uint64_t>(1, stream.window_bytes / stream.stride_bytes)));
  stream.order_name = "forward";
  if (auto done = measure_all(runner, stream, thread_counts(runner), 0, 1, result); !done) return done;
  judge(result, {runner.reference_ns()});
  add_best_finding(result);
  return {};
}

Result<void> run_stride_bw(Runner& runner, result::Memory& result) {
  std::vector<std::uint64_t> strides;
  for (std::uint64_t stride = access_of(runner); stride <= 4096; stride *= 2) strides.push_back(stride);
  if (runner.plan().stride_bytes > 0) strides = {runner.plan().stride_bytes};
  for (std::size_t i = 0; i < strides.size(); ++i) {
    Stream stream;
    stream.access_bytes = access_of(runner);
    stream.stride_bytes = std::max(strides[i], stream.access_bytes);
    stream.window_bytes = std::max(window_of(runner), stream.stride_bytes);
    stream.order = closed(forward_ring(stream.window_bytes / stream.stride_bytes));
    stream.order_name = "forward";
    const auto share = [&](std::size_t part) {
      return static_cast<double>(part) / static_cast<double>(strides.size());
    };
    if (auto done = measure_all(runner, stream, {1}, share(i), share(i + 1), result); !done) return done;
  }
  judge(result, {runner.reference_ns()});
  return {};
}

Result<void> run_random_bw(Runner& runner, result::Memory& result) {
  Stream stream;
  stream.access_bytes = access_of(runner);
  // Accesses begin at multiples of their size, and their number is a power of two.
  stream.stride_bytes = std::max(std::bit_ceil(stream.access_bytes), runner.plan().stride_bytes);
  const std::uint64_t positions = std::bit_floor(std::max<std::uint64_t>(1, window_of(runner) / stream.stride_bytes));
  stream.window_bytes = positions * stream.stride_bytes;
  stream.order = closed(shift_register_order(positions, runner.plan().seed));
  stream.order_name = "random";
  if (auto done = measure_all(runner, stream, thread_counts(runner), 0, 1, result); !done) return done;
  judge(result, {runner.reference_ns()});
  add_best_finding(result);
  return {};
}

}  // namespace tally::memory
