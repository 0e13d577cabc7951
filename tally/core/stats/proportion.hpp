// How far a share that was estimated from samples may be off. Pure.
#pragma once

#include <cstdint>

namespace tally {

/// Two shares of a whole, 0 to 1, between which the true one lies in 95 of 100 cases.
struct ShareInterval {
  double low = 0, high = 1;
  bool operator==(const ShareInterval&) const = default;
};

/// Wilson's score interval of a share that so many samples had, drawn from a whole at random (E. B. Wilson, "Probable
/// inference, the law of succession, and statistical inference", 1927): it is right for few samples and for shares near
/// 0 and 1 as well. Of samples that weigh differently, `samples` is how many of equal weight tell as much (Kish): the
/// square of their sum by the sum of their squares. Without samples nothing is known: 0 to 1. `deviations`: as wide as
/// so many standard deviations to either side; those of 95 of 100 cases where nothing else is wanted.
ShareInterval share_interval(double share, double samples, double deviations = 1.959963984540054);

/// Between which the difference of two estimates lies in 95 of 100 cases, each given with its own interval: the
/// distances to the ends, squared and added (R. G. Newcombe, "Interval estimation for the difference between
/// independent proportions", 1998, method 10).
struct Estimate {
  double value = 0, low = 0, high = 0;
  bool operator==(const Estimate&) const = default;
};
Estimate difference(const Estimate& after, const Estimate& before);

}  // namespace tally
