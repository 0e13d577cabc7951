// What else happened to a thread while it measured.
#pragma once

#include <cstdint>

#include "tally/linux/descriptor.hpp"

namespace tally::linux {

/// Running totals of what makes a timing longer.
struct Disturbance {
  std::int64_t switches = 0;   ///< times that the thread lost its processor to another (getrusage)
  std::int64_t faults = 0;     ///< page faults of the thread
  std::int64_t waited_ns = 0;  ///< in the run queue (/proc/thread-self/schedstat); 0 where the kernel keeps none
  bool operator==(const Disturbance&) const = default;
};

/// Watches the thread that creates it. Moves, never copies.
class Watch {
 public:
  Watch();

  /// The totals of this moment. Cost: two system calls, some 2 µs.
  Disturbance now() const;

  /// Time that the hypervisor kept from one processor, or all where it is negative, in ticks of 10 ms (/proc/stat).
  /// Cost: one file read.
  std::int64_t stolen_ticks(int processor) const;

 private:
  Descriptor schedule_;
};

/// The processor, of those that this thread may run on, that was idle most of the time since its start; 100 ms are
/// watched. Cost: that time.
int quietest_processor();

/// Processors that this thread may run on.
int allowed_processors();

}  // namespace tally::linux
