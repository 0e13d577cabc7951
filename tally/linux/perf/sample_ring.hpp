// The ring of records that the kernel writes for a sampled counter (perf_event_open(2), "MMAP layout").
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "tally/base/result.hpp"
#include "tally/linux/files/memory_file.hpp"
#include "tally/linux/perf/perf_event.hpp"

namespace tally::linux {

/// A record, without its header.
struct RingRecord {
  std::uint32_t type = 0;           ///< PERF_RECORD_…
  std::span<const std::byte> body;  ///< valid while it is being visited
};

/// The mapped ring of one counter. Moves, never copies; one thread reads it.
class SampleRing {
 public:
  /// Maps 2^k pages of records for a counter that was opened to sample. Errors: cannot_measure, with what the kernel
  /// answered: EPERM where the user has locked too much memory already (perf_event_mlock_kb).
  static Result<SampleRing> map(const PerfCounter& counter, std::size_t pages);

  /// Visits the records that have come since the last call, in their order, and gives their room back to the kernel.
  /// Cost: no system call.
  void drain(const std::function<void(const RingRecord&)>& visit);

 private:
  Mapping mapping_;
  std::size_t bytes_ = 0;            // of records: a power of two
  std::vector<std::byte> unfolded_;  // a record that the ring's end cuts in two
};

}  // namespace tally::linux
