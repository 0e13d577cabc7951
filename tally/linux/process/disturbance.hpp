// Measures what disturbed a thread during a measurement.
#pragma once

#include <cstdint>

#include "tally/linux/descriptor.hpp"

namespace tally::linux {

/// Running totals of events that make a timing longer.
struct Disturbance {
  std::int64_t switches = 0;   ///< times that the thread was preempted (getrusage)
  std::int64_t faults = 0;     ///< page faults of the thread
  std::int64_t waited_ns = 0;  ///< in the run queue (/proc/thread-self/schedstat); 0 if the kernel does not report it
  bool operator==(const Disturbance&) const = default;
};

/// Watches the thread that creates it. Can be moved, not copied.
class Watch {
 public:
  Watch();

  /// Returns the current totals. Cost: two system calls, some 2 µs.
  Disturbance now() const;

  /// Returns the time that the hypervisor took from a CPU, or from all if negative, in ticks of 10 ms (/proc/stat).
  /// Cost: one file.
  std::int64_t stolen_ticks(int processor) const;

 private:
  Descriptor schedule_;
};

/// Returns the CPU that was idle most of the time during 100 ms, of those that this thread may run on. Cost: these 100
/// ms.
int quietest_processor();

/// Returns the number of CPUs that this thread may run on.
int allowed_processors();

}  // namespace tally::linux
