// Reads what the kernel accounts for a process.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "tally/core/base/units.hpp"

namespace tally::linux {

/// Resource usage of a process and the descendants that it waited for.
struct Usage {
  Nanoseconds user{0};    ///< CPU time in user mode
  Nanoseconds system{0};  ///< CPU time in the kernel
  std::int64_t minor_faults = 0;
  std::int64_t major_faults = 0;
  std::int64_t voluntary_switches = 0;
  std::int64_t involuntary_switches = 0;
  std::int64_t peak_rss_bytes = 0;    ///< largest resident set of any of these processes
  std::int64_t peak_floor_bytes = 0;  ///< peak before the program was executed: hides a smaller peak
  bool operator==(const Usage&) const = default;
};

/// Converts the result of getrusage(2) or wait4(2).
Usage usage_of(const rusage& statistics);

/// Returns the usage since `start`. The peak is not a sum and stays; start's peak becomes the minimum that can be seen.
Usage since(const Usage& now, const Usage& start);

/// Adds the usage of two processes. Peaks are not summed: the larger one stays.
Usage operator+(const Usage& a, const Usage& b);

/// Returns the usage so far of a running process, without its descendants, from /proc (times in ticks of 10 ms).
/// Nothing if it has ended or may not be read. Cost: two files.
std::optional<Usage> usage_of_living(pid_t pid);

}  // namespace tally::linux
