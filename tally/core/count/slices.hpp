// Bounds the error of a scaled count from how the counter varied between its time slices. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "tally/core/count/count.hpp"

namespace tally {

/// The slices of a multiplexed counter: the time ranges between two readings, at most as long as a multiplexing turn. A
/// slice in which the counter did not run has no known count.
class Slices {
 public:
  /// Adds a slice: the difference of two readings of the counter.
  void add(const Reading& slice);

  /// The number of slices in which the counter ran.
  std::size_t observed() const { return observed_; }

  /// The total number of slices, if all were as long as the observed ones on average.
  double all() const;

  /// Twice the standard error of the scaled value, in percent of it: N·s/√n·√(1 − n/N) for n of N slices of equal
  /// length; for unequal slices, the same of their deviations from the common rate (ratio estimator). Plus one slice,
  /// because the first turn is not random: a program's start may differ from everything observed. None for fewer than
  /// two observed slices or a value of 0.
  std::optional<double> error_percent() const;

 private:
  std::size_t observed_ = 0;
  // Long doubles: if a program is steady, the differences of these sums are small.
  long double events_ = 0, running_ = 0, enabled_ = 0;
  long double events_squared_ = 0, events_running_ = 0, running_squared_ = 0;
};

/// Adds an error bound to a scaled count; it covers the truth in 19 of 20 cases with more than 400 slices. With 30 to
/// 400, the reason says "approximate". With fewer, or if the counter ran less than a tenth of the time, it says "rough"
/// and there is no bound. Returns other counts unchanged.
Count with_error(Count count, const Slices& slices);

/// Adds error bounds to all counts of one measurement. Adds none if some ran more than twice as long as others: the
/// counters were not shared evenly, so the slices are not a fair sample. Processes as short as a turn all count the
/// same events first, and programs may run in step with the turns.
void add_errors(std::vector<Count>& counts, const std::vector<Slices>& slices);

}  // namespace tally
