// What is read of a machine, as Prometheus has it: families of series. Pure.
#pragma once

#include <prometheus/metric_family.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tally/tools/watch/machine.hpp"
#include "tally/tools/watch/reading.hpp"

namespace tally::serve {

/// Counters of energy begin anew behind a range of their own; a series must not. Adds up what they grow by.
class Energy {
 public:
  /// Joules since the first reading, one for each of the machine's counters; nothing where one was never read.
  const std::vector<std::optional<double>>& add(const watch::Machine& machine, const watch::Reading& reading);

 private:
  std::vector<std::optional<std::uint64_t>> last_;
  std::vector<std::optional<double>> sums_;
};

/// What the exporter did itself.
struct Own {
  std::uint64_t readings = 0;
  double reading_seconds = 0;  ///< that all of them took
  double processor_seconds = 0;
  std::string version;
};

/// All families of a reading. A figure that is absent has no series; why it is absent stands in tally_absent_info.
std::vector<prometheus::MetricFamily> series_of(const watch::Machine& machine, const watch::Reading& reading,
                                                const std::vector<std::optional<double>>& joules, const Own& own);

}  // namespace tally::serve
