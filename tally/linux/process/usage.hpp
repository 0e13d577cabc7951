// What the kernel says a process used.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "tally/core/base/units.hpp"

namespace tally::linux {

/// A process's use of the machine, with the descendants that it waited for.
struct Usage {
  Nanoseconds user{0};    ///< processor time in user mode
  Nanoseconds system{0};  ///< processor time in the kernel
  std::int64_t minor_faults = 0;
  std::int64_t major_faults = 0;
  std::int64_t voluntary_switches = 0;
  std::int64_t involuntary_switches = 0;
  std::int64_t peak_rss_bytes = 0;  ///< largest resident set of one of the processes
  std::int64_t peak_floor_bytes =
      0;  ///< what the process had before its program was executed: a smaller peak is hidden
  bool operator==(const Usage&) const = default;
};

/// The figures of a getrusage(2) or wait4(2).
Usage usage_of(const rusage& statistics);

/// What was used since `start`; the peak is not a sum and stays, start's peak becomes the floor.
Usage since(const Usage& now, const Usage& start);

/// What two processes used; the peaks are not a sum, the larger one stays.
Usage operator+(const Usage& a, const Usage& b);

/// What a living process has used so far, without its descendants, from /proc (times in ticks of 10 ms there).
/// Nothing where the process is gone or may not be looked at. Cost: two files read.
std::optional<Usage> usage_of_living(pid_t pid);

}  // namespace tally::linux
