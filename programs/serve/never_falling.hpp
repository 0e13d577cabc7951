// Counters that continue after their source restarts.
#pragma once

#include <prometheus/metric_family.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tally::serve {

/// Keeps every counter from falling while the exporter runs. The kernel's counts restart at 0 when a control group is
/// removed and created again under the same name, or a processor goes offline and online; rate() would interpret that
/// as a reset, and increase() would be wrong.
class NeverFalling {
 public:
  /// `most`: number of inactive series that are remembered.
  explicit NeverFalling(std::size_t most = 65'536) : most_(most) {}

  /// Adds to each counter what its source had counted before it restarted. Call it once per reading.
  void apply(std::vector<prometheus::MetricFamily>& families);

 private:
  struct Series {
    double last = 0;            // as read
    double before = 0;          // counted before the source restarted
    std::uint64_t reading = 0;  // the last one that contained the series
  };
  void forget_the_oldest();

  std::map<std::string, Series> series_;
  std::uint64_t reading_ = 0;
  std::size_t most_;
};

}  // namespace tally::serve
