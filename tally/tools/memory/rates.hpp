// How many bytes in a second one or more threads move.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tally/output/result/memory.hpp"
#include "tally/tools/memory/analysis/permutation.hpp"
#include "tally/tools/memory/operations.hpp"
#include "tally/tools/memory/runner.hpp"

namespace tally::memory {

/// What each thread does, each in memory of its own.
struct Stream {
  Operation operation;
  Order order;                      ///< of the accesses, around and around
  std::string order_name;           ///< "forward", "random"
  std::uint64_t stride_bytes = 64;  ///< between places
  std::uint64_t access_bytes = 64;  ///< at each place
  std::uint64_t window_bytes = 0;   ///< that the places lie in
  int threads = 1;
  std::optional<int> node{};  ///< of the memory; none: the plan's
};

/// Moves until it is told to stop, on the processor it is bound to. `moved` counts bytes as they are moved, in pieces
/// of some KiB; `pause_adds` additions lie after each piece.
void stream_until(const Stream& stream, std::byte* base, const std::atomic<bool>& stop,
                  std::atomic<std::uint64_t>& moved, std::uint64_t pause_adds);

/// A row with its rate: the median over slices of 1 ms. Slices in which a thread lost its processor are thrown away.
/// Errors: no memory.
Result<result::MemoryPoint> measure_rate(Runner& runner, const Stream& stream, const std::string& task);

}  // namespace tally::memory
