// --native of stat: divides the processor time of native runs into user and system time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tally/core/count/count.hpp"
#include "tally/counting/measure/measure_stat.hpp"
#include "tally/linux/process/received_signals.hpp"

namespace tally::why {

/// The share of user time in the processor time of a command, of samples at regular times.
struct TimeSplit {
  double user = 0, low = 0, high = 1;  ///< with the 95 % interval
  std::string by;                      ///< "398 samples of another native run"
};

/// Of `in_user` of `all` samples. Pure.
TimeSplit split_of(std::int64_t in_user, std::int64_t all, std::string by);

/// Samples native runs of the command: at least one, and a short one until there are enough samples. Their output is
/// discarded. Nothing if the kernel's time cannot be sampled here.
std::optional<TimeSplit> sampled_split(const measure::StatOptions& options, linux::Signals& signals);

/// The split that the kernel made: a sample for each tick of its clock.
TimeSplit split_of_ticks(Nanoseconds user, Nanoseconds system);

/// User time, or system time, of a processor time that is exact: estimated, with its interval. `basis`: what that is a
/// mean of; empty: of one run. Pure.
Count part_of(Nanoseconds processor_time, const TimeSplit& split, bool is_user, const std::string& basis);

}  // namespace tally::why
