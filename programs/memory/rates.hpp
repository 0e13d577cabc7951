// Bandwidth of one or more threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "programs/memory/analysis/permutation.hpp"
#include "programs/memory/operations.hpp"
#include "programs/memory/runner.hpp"
#include "tally/output/result/memory_result.hpp"

namespace tally::memory {

/// What each thread does in memory of its own.
struct Stream {
  Operation operation;
  Order order;                      ///< of the accesses, repeated
  std::string order_name;           ///< "forward", "random"
  bool is_contiguous = false;       ///< each access follows the one before it: `order` is forward and without gaps
  std::uint64_t stride_bytes = 64;  ///< from one access to the next
  std::uint64_t access_bytes = 64;  ///< per access
  std::uint64_t window_bytes = 0;   ///< the memory that a thread works in
  int threads = 1;
  std::optional<int> node{};  ///< of the memory; empty: the plan's
};

/// Moves bytes until `stop`, on the processor that the thread is bound to. Adds them to `moved` after each chunk of a
/// few KiB, then executes `pause_adds` additions.
void stream_until(const Stream& stream, std::byte* base, const std::atomic<bool>& stop,
                  std::atomic<std::uint64_t>& moved, std::uint64_t pause_adds);

/// What threads reach: `work` moves something on the processor that its thread is bound to, and returns how much. It
/// runs for much longer than reading the clock takes. Returns what all threads together moved per second in slices of
/// 1 ms, without those in which a thread lost its processor.
std::vector<double> rates_together(const Runner& runner, int threads, int slices,
                                   const std::function<std::uint64_t(std::size_t thread)>& work);

/// Where a thread is in its memory: in a line of its own, because each thread writes it every few nanoseconds.
struct alignas(64) Position {
  std::uint64_t at = 0;
};

/// Bytes per second of each slice, with a thread for each area.
std::vector<double> stream_rates(const Runner& runner, const Stream& stream, const std::vector<linux::Area>& areas,
                                 int slices);

/// Bytes between two readings of the clock: it takes short compared to moving them.
inline constexpr std::uint64_t bytes_between_clocks = 1 << 20;

/// Measures a row with its rate: the median over slices of 1 ms. Slices in which a thread lost its processor are
/// discarded. Errors: no memory.
Result<result::MemoryPoint> measure_rate(Runner& runner, const Stream& stream, const std::string& task);

}  // namespace tally::memory
