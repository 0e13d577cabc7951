// How far a scaled count may be wrong: from what was seen of its counter, slice by slice. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "tally/core/count/count.hpp"

namespace tally {

/// What a counter counted in stretches of time that are as long as it is lent, or shorter: its slices. In those in
/// which it did not run at all it counted nothing that is known.
class Slices {
 public:
  /// One more stretch: the difference of two readings of the counter.
  void add(const Reading& stretch);

  /// Stretches in which it ran.
  std::size_t observed() const { return observed_; }

  /// How many there were, as long as those on average.
  double all() const;

  /// Twice the standard error of the scaled value, in percent of that: N·s/√n·√(1 − n/N) for n of N slices of the same
  /// length; for others the same of how far each lies from the common rate (ratio estimator). And one slice more: the
  /// first turn is no drawn one, and how a program begins may be like nothing that was seen of it. Nothing for fewer
  /// than two observed slices, and where the value is 0.
  std::optional<double> error_percent() const;

 private:
  std::size_t observed_ = 0;
  // Long doubles: the differences of these sums are small where a program is steady.
  long double events_ = 0, running_ = 0, enabled_ = 0;
  long double events_squared_ = 0, events_running_ = 0, running_squared_ = 0;
};

/// The same count, with the bound of its error: that covers the truth in 19 of 20 cases where there are more than 400
/// slices. Between 30 and 400 its reason says "approximate"; for fewer, and where the counter ran for less than a tenth
/// of the time, it says "rough" and there is no bound. A count that is not scaled stays as it is.
Count with_error(Count count, const Slices& slices);

/// The same for all counts of one measurement. Where some of them ran for more than twice as long as others, counters
/// were not lent evenly: processes as short as a turn begin with the same events each, and programs may be in step with
/// the turns. What was seen is no fair sample then, and no bound is told.
void add_errors(std::vector<Count>& counts, const std::vector<Slices>& slices);

}  // namespace tally
