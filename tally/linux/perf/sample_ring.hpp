// The ring of records that the kernel writes for a sampled counter (perf_event_open(2), "MMAP layout").
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
  std::span<const std::byte> body;  ///< valid while it is being visited
  std::uint16_t misc = 0;           ///< PERF_RECORD_MISC_…
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

  /// How far the kernel has written. What is before that may be taken by first() and pass(), one by one.
  std::uint64_t written() const;
  /// The first record that was not passed; nothing where there is none before `end`. Valid until pass().
  std::optional<RingRecord> first(std::uint64_t end);
  /// It is done with. Its room is the kernel's again, soon.
  void pass();
  /// The room of all that was passed is the kernel's again.
  void give_back();

 private:
  Mapping mapping_;
  std::size_t bytes_ = 0;                             // of records: a power of two
  std::uint64_t at_ = 0, given_back_ = 0, size_ = 0;  // the first record, and its size
  std::vector<std::byte> unfolded_;                   // a record that the ring's end cuts in two
};

}  // namespace tally::linux
