// Reads the ring of records that the kernel writes for a sampled counter (perf_event_open(2), "MMAP layout").
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/linux/files/memory_file.hpp"
#include "tally/linux/perf/perf_event.hpp"

namespace tally::linux {

/// A record, without its header.
struct RingRecord {
  std::uint32_t type = 0;           ///< PERF_RECORD_…
  std::span<const std::byte> body;  ///< valid during the visit
  std::uint16_t misc = 0;           ///< PERF_RECORD_MISC_…
};

/// The mapped ring of one counter. Can be moved, not copied. One thread reads it.
class SampleRing {
 public:
  /// Maps 2^k pages of records for a counter that was opened to sample. Errors: cannot_measure, with the kernel's
  /// error: EPERM if the user has locked too much memory already (perf_event_mlock_kb).
  static Result<SampleRing> map(const PerfCounter& counter, std::size_t pages);

  /// Visits the records since the last call, in order, and returns their space to the kernel. Cost: no system call.
  void drain(const std::function<void(const RingRecord&)>& visit);

  /// Returns how far the kernel has written. first() and pass() can take the records before that, one by one.
  std::uint64_t written() const;
  /// Returns the first record that was not passed; nothing if there is none before `end`. Valid until pass().
  std::optional<RingRecord> first(std::uint64_t end);
  /// Moves to the next record. The kernel gets the space of the passed one back soon.
  void pass();
  /// Returns the space of all passed records to the kernel.
  void give_back();

 private:
  Mapping mapping_;
  std::size_t bytes_ = 0;                             // of records: a power of two
  std::uint64_t at_ = 0, given_back_ = 0, size_ = 0;  // position of the first record, and its size
  std::vector<std::byte> unfolded_;                   // a record that the ring's end splits
};

}  // namespace tally::linux
