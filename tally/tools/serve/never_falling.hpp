// Counters that go on where their source begins again.
#pragma once

#include <prometheus/metric_family.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tally::serve {

/// Keeps every counter from falling while the exporter lives. The kernel's counts begin again at 0 when a control group
/// is removed and created under the same name, or a processor goes off and on; rate() would take that for a reset, and
/// increase() would be wrong.
class NeverFalling {
 public:
  /// `most`: series that are remembered after they are gone.
  explicit NeverFalling(std::size_t most = 65'536) : most_(most) {}

  /// Adds to each counter what its source had counted before it began again. Call it once a reading.
  void apply(std::vector<prometheus::MetricFamily>& families);

 private:
  struct Series {
    double last = 0;            // as it was read
    double before = 0;          // counted before the source began again
    std::uint64_t reading = 0;  // the last one that had the series
  };
  void forget_the_oldest();

  std::map<std::string, Series> series_;
  std::uint64_t reading_ = 0;
  std::size_t most_;
};

}  // namespace tally::serve
