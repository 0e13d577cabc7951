// Converts a reading of the machine to Prometheus families of series. Pure.
#pragma once

#include <prometheus/metric_family.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "programs/serve/process_sums.hpp"
#include "programs/watch/machine_reading.hpp"
#include "programs/watch/watched_machine.hpp"

namespace tally::serve {

/// Adds up energy counters, which wrap around at a range of their own; a series must not.
class Energy {
 public:
  /// Joules since the first reading, one for each of the machine's counters; empty if one was never read.
  const std::vector<std::optional<double>>& add(const watch::WatchedMachine& machine, const watch::Reading& reading);

 private:
  std::vector<std::optional<std::uint64_t>> last_;
  std::vector<std::optional<double>> sums_;
};

/// Metrics of the exporter itself.
struct ExporterStats {
  std::uint64_t readings = 0;
  double reading_seconds = 0;  ///< for all readings
  double processor_seconds = 0;
  std::string version;
  bool hides_processes = false;  ///< those of other users: sums by name would be too small
};

/// All families of a reading. A missing value has no series; the reason is in tally_absent_info.
std::vector<prometheus::MetricFamily> series_of(const watch::WatchedMachine& machine, const watch::Reading& reading,
                                                const std::vector<std::optional<double>>& joules,
                                                const ExporterStats& own,
                                                const ProcessSums& processes = ProcessSums({}));

}  // namespace tally::serve
