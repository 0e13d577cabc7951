// The confidence interval of a share that was estimated from samples. Pure.
#pragma once

#include <cstdint>

namespace tally {

/// The 95 % confidence interval of a share, 0 to 1.
struct ShareInterval {
  double low = 0, high = 1;
  bool operator==(const ShareInterval&) const = default;
};

/// Wilson's score interval of a share among `samples` random samples (E. B. Wilson, "Probable inference, the law of
/// succession, and statistical inference", 1927). It also holds for few samples and for shares near 0 and 1. For
/// weighted samples, `samples` is Kish's effective sample size: the squared sum of the weights by the sum of their
/// squares. Without samples it is 0 to 1. `deviations`: the half width in standard deviations; the default is that of
/// 95 %.
ShareInterval share_interval(double share, double samples, double deviations = 1.959963984540054);

/// An estimate with its 95 % confidence interval. difference() combines the distances to the ends in squares (R. G.
/// Newcombe, "Interval estimation for the difference between independent proportions", 1998, method 10).
struct Estimate {
  double value = 0, low = 0, high = 0;
  bool operator==(const Estimate&) const = default;
};
Estimate difference(const Estimate& after, const Estimate& before);

}  // namespace tally
